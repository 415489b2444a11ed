"""Which rows have other initial weights than the rest, though by their recipes they share earlier stages."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from demur.experiments.models.cached_models import Step, steps_behind
from demur.experiments.models.specs import models_of
from demur.experiments.pages.baseline import kept
from demur.experiments.recipe import Table
from demur.experiments.results import earlier
from demur.experiments.runs import Run

_Place = tuple[str, str, int]
"""A row, a column and a seed."""


@dataclass(frozen=True)
class Stage:
    """A stage that a run stands on: its recipe with all before it, and the hash of what it came to."""

    of: _Place
    recipe: str
    weights: str  # empty where it is not known
    start: bool
    """Whether it is the last before the run's own training, or a model that the run names."""


def note(table: Table, results: Path, shown: Collection[tuple[str, str]] | None = None) -> str:
    """What to say of rows whose shared stages were trained more than once; nothing where all is one training.

    Rows are held against others of their column. Where of no run of a stage the weights are known, as in
    results from before they were written down, nothing is said. If not all rows and columns are `shown`, only
    those that are.
    """
    others: list[_Place] = []
    unknown: list[_Place] = []
    for stages in _shared(table, results):
        weights = [(each.of[0] in table.baselines, each.weights) for each in stages if each.weights]
        if not weights:
            continue
        of_baseline = [hash_ for base, hash_ in weights if base]
        usual = Counter(of_baseline or [hash_ for _, hash_ in weights]).most_common(1)[0][0]
        others += [each.of for each in stages if each.weights not in ("", usual)]
        unknown += [each.of for each in stages if each.start and not each.weights]
    unknown = [place for place in unknown if place not in others]
    if shown is not None:
        others, unknown = ([place for place in each if place[:2] in shown] for each in (others, unknown))
    parts = [f"other initial weights than most have {_named(table, others)}"] if others else []
    parts += [f"those of {_named(table, unknown)} are not known"] if unknown else []
    if not parts:
        return ""
    were, said = "were" if others else "may have been", "; ".join(parts)
    return (
        f"By their recipes rows here share earlier stages, but these {were} trained more than once: {said}. "
        "How such a row differs from others may in part come from there."
    )


def _shared(table: Table, results: Path) -> list[list[Stage]]:
    """The stages that two runs of a column or more stand on by their recipes, from each of them."""
    found: dict[tuple[str, str], list[Stage]] = defaultdict(list)
    for row in table.row:
        for column in table.column if row.runs and table.kind != "curves" else ():
            for seed, one in kept(table, row, column, results).items():
                run = Run(table, row, column, seed)
                if earlier.origin(run, one, results) == earlier.STALE:
                    continue
                for stage in _of(run, one.get("model_hashes", {})):
                    found[column.name, stage.recipe].append(stage)
    return [each for each in found.values() if len({stage.of for stage in each}) > 1]


def _of(run: Run, hashes: dict[str, list[str]]) -> Iterator[Stage]:
    own, *named = steps_behind(run)
    yield from _prefixes(run, own, hashes.get("stages", []), len(own) - 1)
    for model, steps in zip(models_of(run), named, strict=True):
        yield from _prefixes(run, steps, hashes.get(f"{{{model.name}}}", []), len(steps))


def _prefixes(run: Run, steps: list[Step], hashes: list[str], start: int) -> Iterator[Stage]:
    said = [[step.data, step.dev, step.by.spec] for step in steps]
    known = hashes if len(hashes) == len(steps) else [""] * len(steps)
    for number, weights in enumerate(known, 1):
        place = (run.row.name, run.column.name, run.seed)
        yield Stage(place, json.dumps(said[:number]), weights, number == start)


def _named(table: Table, some: list[_Place]) -> str:
    """Rows by name, with columns and seeds where these are not all that is kept of the table's."""
    by_row = {
        row.shown: sorted({(column, seed) for name, column, seed in some if name == row.name})
        for row in table.row
    }
    return "; ".join(f"{name} ({_listed(table, places)})" for name, places in by_row.items() if places)


def _listed(table: Table, places: list[tuple[str, int]]) -> str:
    by_column: dict[str, list[int]] = defaultdict(list)
    for column, seed in places:
        by_column[column].append(seed)
    several = len([each for each in table.column if each.data]) > 1
    said = []
    for column, seeds in by_column.items():
        which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {', '.join(map(str, seeds))}"
        said.append(f"{column}: {which}" if several else which)
    return "; ".join(said)
