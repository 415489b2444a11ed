"""How much room packages take: their files and those of all that they require, in MB."""

from __future__ import annotations

from pathlib import Path

from packaging.requirements import Requirement

import demur
from tools.installed import needed, required


def core_megabytes() -> int:
    """The size of everything that a plain `pip install demur` brings, as installed here."""
    return megabytes("demur")


def megabytes(*wanted: str) -> int:
    """The size of everything that a `pip install` of these requirements brings, as installed here."""
    own = any(Requirement(each).name == "demur" for each in wanted)
    found = needed([*wanted, *(required() if own else ())])
    paths = [Path(str(each.locate_file(file))) for each in found.values() for file in each.files or ()]
    if own:  # all of it, also where only a link to it is installed
        paths += Path(demur.__file__).parent.rglob("*[!c]")  # but what Python has compiled
    return round(sum(path.stat().st_size for path in paths if path.is_file()) / 1e6)
