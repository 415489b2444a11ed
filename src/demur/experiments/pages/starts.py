"""Which rows began from other weights than others, though by their recipes all began from the same."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from demur.experiments.models.cached_models import steps_of
from demur.experiments.pages.baseline import kept
from demur.experiments.recipe import Column, Row, Table

_Run = tuple[Row, Column, int]
_UNKNOWN: tuple[str, ...] = ()


def note(table: Table, results: Path) -> str:
    """A sentence on rows that another training of the same earlier stages began; nothing if all is as said.

    Where of no run of a start the weights were written down, nothing is said of them.
    """
    others: list[_Run] = []
    unknown: list[_Run] = []
    for runs in _by_recipe(table, results).values():
        known = Counter({start: len(of) for start, of in runs.items() if start != _UNKNOWN})
        if not known:
            continue
        base = [start for start, of in runs.items() for row, _, _ in of if row.name in table.baselines]
        usual = next((start for start in base if start != _UNKNOWN), known.most_common(1)[0][0])
        others += [each for start, of in runs.items() if start not in (usual, _UNKNOWN) for each in of]
        unknown += runs.get(_UNKNOWN, [])
    said = []
    if names := _named(table, others):
        said.append(
            "By their recipes these rows began from the same trained network as others here, but it was "
            f"trained more than once, and they began from other weights: {names}. A part of what parts "
            "them from the other rows may be that."
        )
    if names := _named(table, unknown):
        said.append(f"Of these it was not written down which weights they began from: {names}.")
    return " ".join(said)


def _by_recipe(table: Table, results: Path) -> dict[str, dict[tuple[str, ...], list[_Run]]]:
    """By the recipe of the stages before the last, and by the weights that these came to: the runs."""
    found: dict[str, dict[tuple[str, ...], list[_Run]]] = defaultdict(lambda: defaultdict(list))
    for row in table.row:
        if len(row.stage) < 2:
            continue
        for column in table.column:
            for seed, one in kept(table, row, column, results).items():
                steps = steps_of(row, column, seed)[:-1]
                recipe = json.dumps([[step.data, step.dev, step.by.spec] for step in steps])
                start = tuple(one.get("model_hashes", {}).get("stages", [])[:-1])
                found[recipe][start if all(start) else _UNKNOWN].append((row, column, seed))
    return found


def _named(table: Table, runs: Sequence[_Run]) -> str:
    """Rows by name, with their columns and seeds where it is not all of them."""
    by_row: dict[str, list[tuple[Column, int]]] = defaultdict(list)
    for row, column, seed in runs:
        by_row[row.name].append((column, seed))
    names = []
    for row in table.row:
        if of := by_row.get(row.name):
            columns = list(dict.fromkeys(column.name for column, _ in of))
            seeds = sorted({seed for _, seed in of})
            parts = _few("", columns, len([each for each in table.column if each.data]))
            parts += _few("seed ", seeds, len(row.seeds))
            names.append(row.shown + f" ({', '.join(parts)})" * bool(parts))
    return "; ".join(names)


def _few(what: str, some: Iterable[object], all_of_them: int) -> list[str]:
    listed = [f"{what}{each}" for each in some]
    return listed if len(listed) < all_of_them else []
