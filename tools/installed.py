"""Which packages are needed for which, as they are installed here."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]


def project() -> dict[str, Any]:
    """The table `project` of pyproject.toml."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def plain(name: str) -> str:
    """The name of a package, as all tools spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def required(extra: str = "") -> list[str]:
    """What demur itself requires, or one of its extras."""
    found: list[str] = project()["optional-dependencies"][extra] if extra else project()["dependencies"]
    return found


def needed(requirements: Iterable[str]) -> dict[str, Distribution]:
    """Everything that some requirements bring, by name; what this platform does not need is left out."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        wanted = waiting.pop()
        name = plain(wanted.name)
        if name == "demur":
            waiting += [Requirement(text) for extra in wanted.extras for text in required(extra)]
            continue
        for extra in {"", *wanted.extras} - {extra for each, extra in seen if each == name}:
            seen.add((name, extra))
            try:
                found[name] = distribution(name)
            except PackageNotFoundError:
                break
            told = [Requirement(text) for text in found[name].requires or ()]
            waiting += [each for each in told if not each.marker or each.marker.evaluate({"extra": extra})]
    return found
