"""Paths as a knowledge base spells them."""

from __future__ import annotations

import os
from pathlib import Path

from demur.paths import exists


def whole(path: Path) -> str:
    """The path from the root, by one spelling: ``docs/../docs`` is ``docs``, unless a link is in the way."""
    there = path.absolute()
    short = Path(os.path.normpath(there))
    return str(short if _same(short, there) else there)


def called_as(path: Path) -> str:
    """The path as it was given, by the same spelling."""
    short = Path(os.path.normpath(path))
    return str(short if _same(short.absolute(), path.absolute()) else path)


def _same(short: Path, there: Path) -> bool:
    if ".." not in there.parts:
        return True
    try:
        return short.samefile(there)
    except OSError:  # neither is there: nothing is known of links
        return not (exists(short) or exists(there))


def is_utf8(path: str) -> bool:
    """Whether a path can be kept: one that is not UTF-8 cannot."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
