"""How much room distributions take: their files and those of their requirements and of theirs, in MB."""

from __future__ import annotations

import json
import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement


def core_megabytes() -> int:
    """The size of everything that a plain `pip install demur` brings, as installed here."""
    return megabytes("demur")


def megabytes(*wanted: str) -> int:
    """The size of everything that a `pip install` of these requirements brings, as installed here."""
    found: dict[str, int] = {}
    seen = set()
    waiting = [Requirement(text) for text in wanted]
    while waiting:
        asked = waiting.pop()
        name = re.sub(r"[-_.]+", "-", asked.name).lower()
        if (name, *asked.extras) in seen:
            continue
        seen.add((name, *sorted(asked.extras)))
        try:
            package = distribution(name)
        except PackageNotFoundError:  # needed on another platform only
            continue
        found[name] = sum(path.stat().st_size for path in files(package) if path.is_file())
        extras = {"", *asked.extras}
        needed = [Requirement(text) for text in package.requires or ()]
        waiting += [
            each
            for each in needed
            if not each.marker or any(each.marker.evaluate({"extra": extra}) for extra in extras)
        ]
    return round(sum(found.values()) / 1e6)


def files(package: Distribution) -> list[Path]:
    """The files of a distribution; of one that is used from its source, those of its package."""
    direct = json.loads(package.read_text("direct_url.json") or "{}")
    spec = find_spec(package.name.replace("-", "_")) if direct.get("dir_info", {}).get("editable") else None
    if spec and spec.origin:
        return [path for path in Path(spec.origin).parent.rglob("*") if path.parent.name != "__pycache__"]
    return [Path(str(package.locate_file(file))) for file in package.files or ()]
