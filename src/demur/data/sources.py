"""The facts about datasets, from ``sources.toml``, and where their files lie."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType

from demur.errors import MissingData


@dataclass(frozen=True)
class Facts:
    """What is known of a dataset. Files are named below the data folder, counts by the id's rest.

    `holes` says of a file or split why it is missing, or other than published, in the data at hand.
    """

    name: str
    description: str
    licence: str
    citation: str
    obtain: str
    files: Mapping[str, Mapping[str, str | int]] = field(default_factory=dict)
    counts: Mapping[str, Mapping[str, int | bool]] = field(default_factory=dict)
    holes: Mapping[str, str] = field(default_factory=dict)
    pitfalls: tuple[str, ...] = ()


@cache
def known() -> Mapping[str, Facts]:
    """The facts about each dataset, by name."""
    import tomllib

    text = Path(__file__).with_name("sources.toml").read_text(encoding="utf-8")
    facts = {
        name: Facts(name, **{**entry, "pitfalls": tuple(entry.get("pitfalls", ()))})
        for name, entry in tomllib.loads(text).items()
    }
    return MappingProxyType(facts)


def facts(name: str) -> Facts:
    """The facts about one dataset; another package's has none here."""
    return known().get(name) or Facts(name, "", "not stated", "", "it from the authors of its package")


def root() -> Path | None:
    """The folder that DEMUR_DATA names, or None."""
    name = os.environ.get("DEMUR_DATA")
    return Path(name) if name else None


def find_file(file: str) -> Path | None:
    """Where a file lies that is named below the data folder, packed (.gz) or not; None if it is not here."""
    folder = root()
    if folder is None:
        return None
    return next(
        (folder / name for name in (file, file.removesuffix(".gz")) if (folder / name).is_file()), None
    )


def locate(dataset: str, file: str) -> Path:
    """Where a file lies, or one line on how to obtain it."""
    found = find_file(file)
    if found is not None:
        return found
    where = "DEMUR_DATA is not set" if root() is None else f"DEMUR_DATA is {root()}"
    obtain = facts(file.partition("/")[0]).obtain
    fix = f"obtain {obtain}; put it as {file} (or unpacked) into a folder; set DEMUR_DATA to that folder"
    raise MissingData(f"{dataset} needs {file}, which is not here ({where})", fix=fix)
