"""Measures of when to answer: ``AURC``, ``Risk@0.8``, ``Coverage@0.05``, ``AUROC``.

Their domain is the predicted answers: one for each question that has candidates, right or wrong, surest
first. The risk of some answers is the share of wrong ones among them, their coverage is their share of all
predicted ones. Equally sure answers come in random order, and each value is the exact mean over that order.

Such a measure has no value for one question, only for a set of them; its interval comes from measuring
resampled sets. To add one: a function from `Drawn` to one value per resample, NaN where it is undefined.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from demur.errors import UsageError
from demur.evaluation.measures import Measure
from demur.evaluation.selective.ordered import Answers, Blocks, Drawn
from demur.specs import Setting, Spec
from demur.types import FloatArray, IntArray

NEARLY = 1e-9  # shares such as 0.05 are not exact, and counts are whole


@dataclass(frozen=True, repr=False)
class Selective(Measure):
    """A measure over confidence and loss; behind its ``@`` stands a share, from 0 to 1."""

    share: float | None = None
    undefined: str = ""
    """When it has no value, for the message that says so."""

    def __matmul__(self, share: float) -> Self:
        if not self.needs_cutoff:
            raise UsageError(f"{self.name} takes no share; write {self.name}")
        if not 0 <= share <= 1:
            raise UsageError(f"the share in {self.name}@{share:g} must be from 0 to 1, such as 0.8")
        return replace(self, share=float(share))

    def __str__(self) -> str:
        return str(Spec(self.name, dict(self.settings), self.share))

    __repr__ = __str__

    def completed(self) -> Self:
        """The measure itself, if it says all that it needs."""
        set_at = self.needs_cutoff and "threshold" in dict(self.settings)
        if self.needs_cutoff and set_at == (self.share is not None):
            raise UsageError(
                f"{self} needs a share or a threshold; write {self.name}@0.1 or {self.name}(threshold=3.5)"
            )
        return self

    def values_of(self, drawn: Drawn) -> FloatArray:
        """One value per resample; NaN where the measure is undefined."""
        settings = {key: value for key, value in self.settings if key != "rel"}
        return self.compute(drawn, self.share, **settings)

    def _defaults(self) -> dict[str, Setting]:
        return {"rel": 1, **super()._defaults()}

    def of(self, confidence: ArrayLike, loss: ArrayLike) -> float:
        """The measure of answers: how sure each is, and 0 if it is right, 1 if wrong; NaN if undefined."""
        return float(self.completed().values_of(Answers.of(confidence, loss).drawn())[0])


class Curve(NamedTuple):
    """Every threshold there is, strictest first, and what an answer at least so sure comes with."""

    threshold: FloatArray
    coverage: FloatArray
    risk: FloatArray


def curve(confidence: ArrayLike, loss: ArrayLike) -> Curve:
    """The risk and the coverage at each threshold that tells answers apart."""
    blocks = Answers.of(confidence, loss).drawn().blocks
    upto, wrong = blocks.upto[0], blocks.wrong_upto[0]
    return Curve(blocks.key, upto / upto[-1], wrong / upto)


def split(measures: Iterable[Measure]) -> tuple[list[Measure], list[Selective]]:
    """The measures that have a value for each pool, and those that have none."""
    listed = list(measures)
    selective = [measure for measure in listed if isinstance(measure, Selective)]
    return [measure for measure in listed if not isinstance(measure, Selective)], selective


def risk(drawn: Drawn, share: float | None, threshold: float | None = None) -> FloatArray:
    """The share of wrong answers among the surest, as few as the coverage needs, or at a threshold."""
    blocks = drawn.blocks
    if threshold is not None:
        return _at(blocks, blocks.wrong_upto, threshold) / _some(_at(blocks, blocks.upto, threshold))
    wanted = np.ceil((share or 0.0) * drawn.count - NEARLY).clip(1)
    block = (blocks.upto < wanted[:, None]).sum(axis=1)[:, None]  # the one that the last of them is in
    upto, wrong, rate = (
        np.take_along_axis(each, block, 1)[:, 0] for each in (blocks.upto, blocks.wrong_upto, blocks.rate)
    )
    return np.asarray((wrong - (upto - wanted) * rate) / wanted)


def coverage(drawn: Drawn, share: float | None, threshold: float | None = None) -> FloatArray:
    """The largest share of answers whose risk is within the share, or the share at a threshold.

    Only thresholds that exist count: equally sure answers are all given or all held back.
    """
    blocks = drawn.blocks
    if threshold is not None:
        return _at(blocks, blocks.upto, threshold) / drawn.count
    within = blocks.wrong_upto <= (share or 0.0) * blocks.upto + NEARLY
    return np.asarray((blocks.upto * within).max(axis=1) / drawn.count)


def _at(blocks: Blocks, sums: FloatArray | IntArray, threshold: float) -> FloatArray:
    """The running sums up to the last block that reaches the threshold."""
    reached = int((blocks.key >= threshold).sum())
    return np.asarray(sums[:, reached - 1], np.float64) if reached else np.zeros(len(sums))


def _some(count: FloatArray) -> FloatArray:
    """The counts, NaN where there is nothing."""
    return np.where(count > 0, count, np.nan)


def _area(blocks: Blocks, count: IntArray) -> FloatArray:
    """The mean, over the first n answers for every n, of their risk.

    Within a block the n-th answer adds the block's mean loss, so that the risk is the block's mean plus
    what the blocks before are off from it, thinned by 1/n: summed over n that is a harmonic number.
    """
    before = blocks.wrong_upto - blocks.wrong - blocks.rate * (blocks.upto - blocks.size)
    return np.asarray((blocks.wrong + before * blocks.steps).sum(axis=1) / count)


def risk_coverage_area(drawn: Drawn, share: None) -> FloatArray:
    """The mean risk of the surest n answers, over every n; lower is better."""
    return _area(drawn.blocks, drawn.count)


def excess_area(drawn: Drawn, share: None) -> FloatArray:
    """AURC less that of the best order of the same answers; 0 where confidence knows what is right."""
    return _area(drawn.blocks, drawn.count) - _area(drawn.best, drawn.count)


def general_area(drawn: Drawn, share: None) -> FloatArray:
    """The area under the share of answers that are given and wrong, over coverage; lower is better."""
    blocks = drawn.blocks
    below = blocks.size * (blocks.wrong_upto - blocks.wrong / 2)
    return np.asarray(below.sum(axis=1) / drawn.count.astype(np.float64) ** 2)


def detection(drawn: Drawn, share: None) -> FloatArray:
    """The chance that a right answer is surer than a wrong one; a tie is half a chance."""
    blocks = drawn.blocks
    right = blocks.size - blocks.wrong
    turned = (right * (blocks.wrong_upto - blocks.wrong / 2)).sum(axis=1)
    pairs = drawn.wrong * (drawn.count - drawn.wrong)
    return np.asarray(1 - turned / _some(pairs))


def error_precision(drawn: Drawn, share: None) -> FloatArray:
    """The average precision of finding the wrong answers by looking at the least sure first."""
    blocks = drawn.blocks.reversed
    before, size = blocks.upto - blocks.size, blocks.size
    pairs = (blocks.wrong**2 - blocks.alone) / np.maximum(size * (size - 1), 1)
    first = blocks.rate * (blocks.wrong_upto - blocks.wrong + 1) * blocks.steps
    others = pairs * (size - (before + 1) * blocks.steps)
    return np.asarray((first + others).sum(axis=1) / _some(drawn.wrong))


_NONE = "no answer reaches the threshold"
_ALIKE = "the answers are all right or all wrong"

Risk = Selective("Risk", risk, needs_cutoff=True, undefined=_NONE)
Coverage = Selective("Coverage", coverage, needs_cutoff=True)
AURC = Selective("AURC", risk_coverage_area)
EAURC = Selective("E-AURC", excess_area)
AUGRC = Selective("AUGRC", general_area)
AUROC = Selective("AUROC", detection, undefined=_ALIKE)
APerror = Selective("AP-error", error_precision, undefined="no answer is wrong")
