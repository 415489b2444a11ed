"""Measures as values with one spelling: ``MAP``, ``P@1``, ``nDCG(gain=exp)@10``.

To add one: write a function from ranked pools to one value per pool, name it as a `Measure`, and add a line
to `registry.py`. Each value here is the exact expectation when tied items are put in random order; under
conventions that settle ties, blocks have one item and the expectation is the value itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from demur import registry
from demur.errors import UsageError
from demur.evaluation.ranked import Ranked
from demur.specs import Setting, Spec, listed, parse
from demur.types import FloatArray, IntArray

LAST = 10**9  # no pool is longer
MOST_EXPONENT = 40  # 2**40 a label, for millions of pairs, still adds up exactly


@dataclass(frozen=True, repr=False)
class Measure:
    """A name, settings and a cut-off; equal if they are spelled alike."""

    name: str
    compute: Callable[..., FloatArray] = field(compare=False)
    at: int | None = None
    settings: tuple[tuple[str, Setting], ...] = ()
    needs_cutoff: bool = field(default=False, compare=False)

    def __matmul__(self, at: float) -> Self:
        if not 1 <= at <= LAST or at != int(at):
            raise UsageError(
                f"the cut-off in {self.name}@{at:g} must be a whole number above 0 and at most {LAST:,}"
            )
        return replace(self, at=int(at))

    def __call__(self, **settings: Setting) -> Self:
        """The same measure with other settings; those that are the default are not spelled.

        But for `rel`: from which label an answer is right may be another default of the data.
        """
        merged = {**dict(self.settings), **settings}
        defaults = self._defaults()
        for key, value in merged.items():
            if key not in defaults:
                raise UsageError(f"{self.name} has no setting {key!r}; it takes {', '.join(defaults)}")
            _check(self.name, key, value)
        kept = {key: value for key, value in merged.items() if value != defaults[key] or key == "rel"}
        return replace(self, settings=tuple(sorted(kept.items())))

    def __str__(self) -> str:
        return str(Spec(self.name, dict(self.settings))) + ("" if self.at is None else f"@{self.at}")

    __repr__ = __str__

    def completed(self) -> Self:
        """The measure itself, if it says all that it needs."""
        if self.needs_cutoff and self.at is None:
            raise UsageError(f"{self} needs a cut-off; write {self}@1 or {self}@10")
        return self

    @property
    def rel(self) -> int:
        """The lowest label that counts as positive."""
        return int(dict(self.settings).get("rel", 1))

    def from_label(self, lowest: int) -> Self:
        """The measure of answers that are right from this label on, unless it names a label itself.

        Graded gains are the measure of all labels: those stay as they are.
        """
        own = "rel" in dict(self.settings) or "gain" in self._defaults()
        return self if own or lowest == 1 or "rel" not in self._defaults() else self.__call__(rel=lowest)

    def values(self, ranked: Ranked) -> FloatArray:
        """One value per pool; NaN where the convention leaves the pool out."""
        at = self.at or ranked.rules.cutoff
        values = self.compute(ranked, at, **dict(self.settings))
        none = ranked.hits(self.rel).positives == 0
        values[none] = np.nan if ranked.rules.no_positive == "skip" else 0.0
        if ranked.rules.absent == "skip":
            values[ranked.judged.absent] = np.nan
        return values

    def _defaults(self) -> dict[str, Setting]:
        known = list(inspect.signature(self.compute).parameters.values())[2:]
        return {parameter.name: parameter.default for parameter in known}


def _check(name: str, key: str, value: Setting) -> None:
    if key == "rel" and not (type(value) is int and value >= 1):
        raise UsageError(f"rel in {name}(rel={value}) must be a whole label above 0")
    if key == "gain" and value not in ("linear", "exp"):
        raise UsageError(f"gain in {name}(gain={value}) must be linear or exp")
    if key == "threshold" and (isinstance(value, bool | str) or value != value):
        raise UsageError(f"threshold in {name}(threshold={value}) must be a number")


QUOTED = ("EM", "F1", "HasAns-EM", "HasAns-F1", "NoAns-EM")
"""Measures of quotes, with a value for each question."""


def measure(spec: str | Measure) -> Measure:
    """The measure a spec spells, such as ``P(rel=2)@10``."""
    if isinstance(spec, Measure):
        return spec.completed()
    wanted = parse(spec)
    if wanted.name in QUOTED:
        raise UsageError(f"{wanted.name} is a measure of quoted answers; name a reader, or answers, too")
    found: Measure = registry.find("measure", wanted.name)(**wanted.settings)
    return (found if wanted.at is None else found @ wanted.at).completed()


def parse_measures(specs: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """The measures of a list, or of a text with commas such as ``MAP,nDCG(rel=2, gain=exp)@10``."""
    if isinstance(specs, Measure):
        specs = [specs]
    found = tuple(dict.fromkeys(map(measure, listed(specs, ",") if isinstance(specs, str) else specs)))
    if not found:
        raise UsageError("no measure is named; name one, such as MAP")
    return found


def average_precision(ranked: Ranked, at: int | None, rel: int = 1) -> FloatArray:
    """The mean, over the positives, of the precision where each stands; 0 for those beyond the cut-off.

    The i-th item of a block is positive with chance here/size; the others of the block then stand before
    it with chance (i-1)/(size-1) each. Summed over i, that is a harmonic number and a count.
    """
    here, ahead, positives = ranked.hits(rel)
    inside = ranked.inside(at)
    others = (here - 1) / np.maximum(ranked.size - 1, 1) * (ranked.size > 1)
    steps = ranked.harmonic[ranked.before + inside] - ranked.harmonic[ranked.before]
    parts = here / ranked.size * ((ahead + 1 - others * (ranked.before + 1)) * steps + others * inside)
    below = positives.astype(np.float64)
    if ranked.rules.map_over == "found":
        below = ranked.per_pool(here * inside / ranked.size)
    elif ranked.rules.map_over == "smoothed":
        below += 1e-6
    return _ratio(ranked.per_pool(parts), below)


def reciprocal_rank(ranked: Ranked, at: int | None, rel: int = 1) -> FloatArray:
    """One over the rank of the first positive; 0 if it is beyond the cut-off.

    Only the first block with a positive matters. Its j-th item is the first positive with chance
    C(size-j, here-1) / C(size, here).
    """
    here, ahead, _ = ranked.hits(rel)
    first = np.flatnonzero((here > 0) & (ahead == 0))
    size, here = ranked.size[first], here[first]
    reach = np.minimum(size - here + 1, ranked.inside(at)[first])
    block = np.repeat(np.arange(len(first)), reach)
    j = np.arange(len(block)) - np.repeat(np.cumsum(reach) - reach, reach) + 1
    all_ways = ranked.log_choose(size, here)
    chance = np.exp(ranked.log_choose(size[block] - j, here[block] - 1) - all_ways[block])
    parts = np.zeros(len(ranked.pool))
    parts[first] = np.bincount(block, chance / (ranked.before[first][block] + j), minlength=len(first))
    return ranked.per_pool(parts)


def precision(ranked: Ranked, at: int, rel: int = 1) -> FloatArray:
    """The share of the first k ranks that hold a positive."""
    return ranked.per_pool(ranked.hits(rel).here * ranked.inside(at) / ranked.size) / at


def recall(ranked: Ranked, at: int, rel: int = 1) -> FloatArray:
    """The share of all positives within the first k ranks."""
    here, _, positives = ranked.hits(rel)
    return _ratio(ranked.per_pool(here * ranked.inside(at) / ranked.size), positives)


def success(ranked: Ranked, at: int, rel: int = 1) -> FloatArray:
    """The chance of a positive within the first k ranks: one minus that of drawing none from each block."""
    negatives = ranked.size - ranked.hits(rel).here
    inside = ranked.inside(at)
    none = ranked.log_choose(negatives, inside) - ranked.log_choose(ranked.size, inside)
    return -np.expm1(ranked.per_pool(none))


def normalised_gain(ranked: Ranked, at: int | None, rel: int = 1, gain: str | None = None) -> FloatArray:
    """The discounted gain as a share of what a perfect ranker would get; labels below `rel` gain nothing."""
    kind = gain or ranked.rules.gain
    reached = ranked.discount[ranked.before + ranked.inside(at)] - ranked.discount[ranked.before]
    got = ranked.per_pool(ranked.mean_gain(_gain(ranked.labels, rel, kind)) * reached)
    ideal = ranked.judged.ideal
    kept = ideal.label >= rel if at is None else (ideal.label >= rel) & (ideal.rank < at)
    parts = _gain(ideal.label[kept], rel, kind) / np.log2(ideal.rank[kept] + 2)
    return _ratio(got, np.bincount(ideal.pool[kept], parts, minlength=len(got)))


def _gain(labels: IntArray, rel: int, kind: str) -> IntArray:
    kept = np.where(labels >= rel, labels, 0)
    if kind == "linear":
        return kept
    if kept.max(initial=0) > MOST_EXPONENT:
        raise UsageError(
            f"a label of {kept.max()} is too high for nDCG with exponential gain; use nDCG(gain=linear)"
        )
    return (np.int64(1) << kept) - 1


def _ratio(above: FloatArray, below: FloatArray | IntArray) -> FloatArray:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


MAP = Measure("MAP", average_precision)
RR = Measure("RR", reciprocal_rank)
P = Measure("P", precision, needs_cutoff=True)
R = Measure("R", recall, needs_cutoff=True)
Success = Measure("Success", success, needs_cutoff=True)
nDCG = Measure("nDCG", normalised_gain)  # noqa: N816  # as everybody writes it
