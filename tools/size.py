"""How much room the core takes: the files of demur's requirements and of theirs, in MB."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement


def core_megabytes() -> int:
    """The size of everything that a plain `pip install demur` brings, as installed here."""
    found: dict[str, int] = {}
    waiting = ["demur"]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:  # needed on another platform only
            continue
        paths = [Path(str(package.locate_file(file))) for file in package.files or ()]
        found[name] = sum(path.stat().st_size for path in paths if path.exists())
        needed = [Requirement(text) for text in package.requires or ()]
        waiting += [each.name for each in needed if not each.marker or each.marker.evaluate({"extra": ""})]
    return round(sum(found.values()) / 1e6)
