"""How much room the core takes: the files of demur and of all that it requires, in MB."""

from __future__ import annotations

from pathlib import Path

import demur
from tools.installed import needed, required


def core_megabytes() -> int:
    """The size of everything that a plain `pip install demur` brings, as installed here."""
    paths = [
        Path(str(each.locate_file(file))) for each in needed(required()).values() for file in each.files or ()
    ]
    paths += Path(demur.__file__).parent.rglob("*")  # all of it, also where only a link to it is installed
    return round(sum(path.stat().st_size for path in paths if path.is_file()) / 1e6)
