"""Which orders of a paper hold here: rows that have both figures, ours tested against each other in pairs.

Columns over the same questions are ranked together, as a paper's table of perturbations has them. Rows are
ranked by the size of their network: a row such as ``TANDA, 110M`` stands beside what the paper printed of
``TANDA``. Nets of word vectors are ranked with the small transformers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import stats

from demur.embedders.encoders.loading import MPNET
from demur.evaluation.comparison.significance import holm, permutation
from demur.experiments.kinds import KINDS
from demur.experiments.kinds.base import Result
from demur.experiments.pages.baseline import DRAWS, LEVEL, alike, kept
from demur.experiments.recipe import Column, Row, Table
from demur.experiments.results import earlier
from demur.experiments.tables import Cell, cells
from demur.specs import parse

LARGE, SMALL, WORDS, OTHER = "110M", "22M", "word vectors", "other"
FEWEST = 3
"""Rows that make a ranking."""
OUTCOMES = HOLDS, REVERSED, APART = "hold", "reversed", "not told apart"
"""What becomes of the paper's orders here."""
ONE, SPLIT = "¹", "²"
SAID = f"""An order is of two rows of the paper. It *holds* here if our figures differ significantly and the
same way, and is *reversed* if they do the other way: p < {LEVEL:g} by a permutation test over pools,
averaged over the seeds that both have, with Holm's correction over all orders of the ranking. {ONE} of the
two rows one has one seed, so the order is about that one network. {SPLIT} the seeds differ in which row is
above: the test is over pools, and does not know what other seeds would bring. Ranks and Kendall's τ (τ-b; 1
is the same ranking, −1 the opposite one) are of means, however sure these are. Nets of word vectors are
ranked with the small networks."""


@dataclass(frozen=True)
class Place:
    """A row of which there are both figures, under one column."""

    name: str
    network: str
    cell: Cell
    published: float
    found: dict[int, Result]

    @property
    def mean(self) -> float:
        """Our figure."""
        return self.cell.mean or 0.0

    @property
    def ours(self) -> str:
        """The network and, where it learns, of how many seeds its figure is."""
        seeds = f", {self.cell.seeds} seeds" if self.cell.seeds > 1 else ", one seed"
        return self.network + seeds * self.cell.learns


@dataclass(frozen=True)
class Order:
    """Two places as the paper orders them: the differences seed by seed, and the p of their mean."""

    above: Place
    below: Place
    differences: list[float]
    p: float
    single: bool
    """Whether one of the two is compared with a single seed."""

    @property
    def outcome(self) -> str:
        """What has become of it."""
        if self.p >= LEVEL:
            return APART
        return HOLDS if sum(self.differences) > 0 else REVERSED

    @property
    def mark(self) -> str:
        """Signs for what the test over pools does not know."""
        split = self.outcome != APART and min(self.differences) < 0 < max(self.differences)
        return ONE * self.single + SPLIT * split


@dataclass(frozen=True)
class Ranking:
    """The places of a table that are ranked together, as the paper ranks them, and their orders."""

    table: Table
    network: str
    places: list[Place]
    orders: list[Order]

    @property
    def tau(self) -> str:
        """Kendall's rank correlation (τ-b) of our means with the paper's figures."""
        ours, theirs = ([getattr(each, what) for each in self.places] for what in ("mean", "published"))
        return f"{stats.kendalltau(theirs, ours).statistic:.2f}".replace("-", "−")

    @property
    def counts(self) -> list[int]:
        """How many orders hold, are reversed, and are not told apart."""
        return [sum(each.outcome == outcome for each in self.orders) for outcome in OUTCOMES]


def rankings(table: Table, results: Path) -> list[Ranking]:
    """What is ranked in a table: for each set of questions the small networks, and the large ones."""
    found = []
    for columns in _together(table, results):
        every = list(_places(table, columns, results))
        for large in (False, True):
            places = [each for each in every if (each.network == LARGE) == large]
            places.sort(key=lambda place: -place.published)
            if places:
                found.append(Ranking(table, LARGE if large else SMALL, places, _orders(table, places)))
    return found


def block(tables: Sequence[Table], results: Path) -> str:
    """How far tables agree with what was published: a line for each ranking, then what each is made of."""
    found = [each for table in tables for each in rankings(table, results)]
    ranked = [each for each in found if len(each.places) >= FEWEST]
    lines = ["| ranking | our network | rows | Kendall's τ | " + " | ".join(OUTCOMES) + " |"]
    lines.append("|---|---|---|---|---|---|---|")
    for each in ranked:
        name, networks = each.table.table, ", ".join(dict.fromkeys(place.network for place in each.places))
        counts = " | ".join(map(str, each.counts))
        lines.append(f"| [{name}](#{name}) | {networks} | {len(each.places)} | {each.tau} | {counts} |")
    parts = ["\n".join(lines), SAID]
    for table in tables:
        here = [each for each in found if each.table is table]
        parts += [f"### {table.table}, published and ours", *(part for each in here for part in _parts(each))]
    if origins := earlier.legend([place.cell for each in ranked for place in each.places]):
        parts.append(f"{origins}.")
    return "\n\n".join(parts)


def network(row: Row) -> str:
    """What a row's network is."""
    specs = [parse(each) for each in (row.trainer, *(stage.trainer for stage in row.stage)) if each]
    if any(each.settings.get("base") == MPNET for each in specs):
        return LARGE
    if any("vectors" in each.settings for each in specs):
        return WORDS
    return SMALL if specs else OTHER


def _together(table: Table, results: Path) -> list[list[Column]]:
    """The columns with results, those over the same questions together."""
    by_pools: dict[frozenset[str], list[Column]] = {}
    for column in table.column:
        first = next((one for row in table.row for one in kept(table, row, column, results).values()), None)
        if column.data and first is not None:
            by_pools.setdefault(frozenset(_values(table, [first])), []).append(column)
    return list(by_pools.values())


def _places(table: Table, columns: Sequence[Column], results: Path) -> Iterator[Place]:
    measure, convention = table.measures[0], _convention(table)
    by_place = {
        (each.row, each.column): each
        for each in cells(table, results)
        if (each.measure, each.convention) == (measure, convention)
    }
    for column in columns:
        for row in table.row:
            cell, name = by_place[row.name, column.name], row.name.removesuffix(f", {LARGE}")
            called = row.shown.removesuffix(f", {LARGE}")
            beside = by_place.get((name, column.name), cell)  # the small one, of which the paper's figure is
            published = beside.published if cell.published is None else cell.published
            if cell.mean is not None and published is not None:
                shown = called if len(columns) == 1 else f"{called} ({column.name})"
                yield Place(shown, network(row), cell, published, kept(table, row, column, results))


def _convention(table: Table) -> str:
    """The convention of the paper's own figures."""
    return next(each.convention for each in table.published if each.measure == table.measures[0])


def _values(table: Table, found: Sequence[Result]) -> dict[str, float]:
    return KINDS[table.kind].values(found, _convention(table), table.measures[0])


def _orders(table: Table, places: Sequence[Place]) -> list[Order]:
    """All pairs that the paper orders; they are one family of tests."""
    pairs, by_pool, by_seed, single = [], [], [], []
    for above, below in combinations(places, 2):
        several = min(above.cell.wanted, below.cell.wanted) > 1
        both = alike(above.found, below.found, several)
        here, there = (_values(table, each) for each in both)
        if above.published == below.published or not (pools := sorted(here.keys() & there.keys())):
            continue
        pairs.append((above, below))
        by_pool.append(np.round([here[pool] - there[pool] for pool in pools], 12))
        seeds = zip(*both, strict=True) if several else [(both[0][0], both[1][0])]
        ours = [[_values(table, [one]) for one in seed] for seed in seeds]
        by_seed.append([float(np.mean([a[pool] - b[pool] for pool in pools])) for a, b in ours])
        learnt = zip((above, below), both, strict=True)
        single.append(any(place.cell.learns and len(of) == 1 for place, of in learnt))
    ps = holm([permutation(each, draws=DRAWS) for each in by_pool])
    return [
        Order(*pair, seeds, p, one) for pair, seeds, p, one in zip(pairs, by_seed, ps, single, strict=True)
    ]


def _parts(ranking: Ranking) -> list[str]:
    """The figures side by side in the paper's order, and what became of each pair."""
    table, places = ranking.table, ranking.places
    if len(places) < FEWEST:
        names = " and ".join(each.name for each in places)
        return [f"With our network of {ranking.network} too few rows have both figures to rank: {names}."]
    ours, theirs = (
        sorted((getattr(each, what) for each in places), reverse=True) for what in ("mean", "published")
    )
    head = f"{table.measures[0]}, convention `{_convention(table)}`"
    lines = [f"| {head} | published | rank | ours | rank | our network |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {each.name} | *{each.published:.3f}* | {1 + theirs.index(each.published)} "
        f"| {each.mean:.3f}{earlier.sign(each.cell)} | {1 + ours.index(each.mean)} | {each.ours} |"
        for each in places
    ]
    return ["\n".join(lines), "\n".join(f"- {each}: {_listed(ranking, each)}" for each in OUTCOMES)]


def _listed(ranking: Ranking, outcome: str) -> str:
    """The orders that came to it, those below the same row together."""
    orders = [each for each in ranking.orders if each.outcome == outcome]
    marks = {each.mark for each in orders}
    if orders == ranking.orders and len(marks) == 1:
        return f"all {len(orders)}{marks.pop()}"
    by_above: dict[str, list[str]] = {}
    for each in orders:
        by_above.setdefault(each.above.name, []).append(each.below.name + each.mark)
    return "; ".join(f"{above} > {', '.join(below)}" for above, below in by_above.items()) or "none"
