"""What tests of loaders share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from demur.types import Pool

Write = Callable[..., Path]


def outline(pools: list[Pool]) -> list[tuple[str, str, list[tuple[str, str, int | None]]]]:
    return [(p.id, p.question, [(c.id, c.text, c.label) for c in p.candidates]) for p in pools]
