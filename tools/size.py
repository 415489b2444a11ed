"""How much room the core takes: the files of demur and of all that it requires, in MB."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

from tools.installed import needed, required


def core_megabytes() -> int:
    """The size of everything that a plain `pip install demur` brings, as installed here."""
    packages = [distribution("demur"), *needed(required()).values()]
    paths = [Path(str(each.locate_file(file))) for each in packages for file in each.files or ()]
    return round(sum(path.stat().st_size for path in paths if path.exists()) / 1e6)
