"""A gate: the threshold below which nothing is answered, with a certificate of what this promises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from demur.errors import UsageError
from demur.rankers import Ranker
from demur.risk.gates import gate_file
from demur.risk.gates.calibration import Calibration
from demur.risk.gates.certificate import UNANSWERABLE, Certificate, percent, told_apart
from demur.risk.gates.gate_file import beside
from demur.risk.gates.judging import check_seen, finite, judge_answers, settled
from demur.risk.gates.pool_hashes import Marks
from demur.risk.predictions import BoolArray, Predictions
from demur.risk.qualifiers.base import Qualifier
from demur.risk.qualifiers.base import qualifier as resolve_qualifier
from demur.risk.thresholds.control import STARTS
from demur.types import FloatArray, Pool, Ranking, Verdict


def _nothing(pairs: int) -> None:
    return None


@dataclass(frozen=True)
class Gate:
    """A threshold on the confidence of a qualifier in a ranker's best candidate."""

    threshold: float
    certificate: Certificate
    marks: Marks = field(repr=False)  # of the pools it was calibrated on
    confidences: tuple[float, ...] = field(
        repr=False
    )  # on those pools, ascending; of many, evenly chosen ones
    place: Path | None = field(default=None, compare=False, repr=False)
    """The folder that its file lies in, if it was read: what its qualifier asks may lie there too."""

    @property
    def qualifier(self) -> str:
        """The spec of what says how sure the ranker may be."""
        return self.certificate.qualifier

    @property
    def ranker(self) -> str:
        """The spec of the ranker that it was calibrated for."""
        return self.certificate.ranker

    @property
    def promise(self) -> str:
        """What is promised about the answers that pass, in one plain sentence."""
        return self.certificate.promise

    @property
    def scope(self) -> tuple[str, ...]:
        """Where the promise holds and where it does not, a sentence each."""
        return self.certificate.scope

    @property
    def plain_threshold(self) -> float | None:
        """The threshold as JSON can hold it: None where every answer passes."""
        return None if self.threshold == -np.inf else float(finite(np.array(self.threshold)))

    @cached_property
    def _qualifier(self) -> Qualifier:
        return resolve_qualifier(beside(self.qualifier, self.place))

    def judge(self, ranking: Ranking) -> Verdict:
        """How sure the ranker may be of its best candidate, and why the gate refuses it, if it does."""
        if not len(ranking):
            return Verdict(-np.inf, "there is nothing to answer with")
        pool = Pool("q", ranking.question, ranking.candidates)
        confidence = float(self._qualifier.confidence([pool], [np.array(ranking.scores, np.float64)])[0])
        if np.isnan(confidence):
            return Verdict(confidence, "its confidence is not a number")
        refusal = "" if confidence >= self.threshold else self._refusal(confidence)
        return Verdict(confidence, refusal, self.plain_threshold)

    def _refusal(self, confidence: float) -> str:
        shown, least = told_apart(confidence, self.threshold)
        below = f"its confidence {shown} is below {least}"
        if not self.certificate.promising:
            return f"{below}, the threshold"
        below, share = f"{below}, the threshold at which at most", percent(self.certificate.risk)
        if self.certificate.about == UNANSWERABLE:
            return f"{below} {share} of questions without an answer get one"
        return f"{below} {share} of answers are wrong"

    def check_ranker(self, ranker: Ranker) -> None:
        """Raise an error that says why if the gate was calibrated for another ranker."""
        if ranker.fingerprint != self.certificate.ranker_fingerprint:
            other = ranker.spec if ranker.spec != self.ranker else f"{ranker.spec} over other texts"
            raise UsageError(
                f"this gate was calibrated for the ranker {self.ranker}, not for {other}, "
                "about which it promises nothing; use that ranker, or calibrate a gate for this one"
            )

    def check_pools(self, pools: Sequence[Pool]) -> None:
        """Raise an error if the gate was calibrated on any of these pools."""
        known = self.marks.known(pools)
        if known.any():
            first = pools[int(np.flatnonzero(known)[0])].id
            raise UsageError(
                f"the gate was calibrated on {int(known.sum()):,} of these {len(pools):,} pools, such as "
                f"{first!r}, so what it does on them proves nothing; take pools that it has not seen"
            )

    def confidence_of(self, ranker: Ranker | str, pools: Sequence[Pool]) -> FloatArray:
        """How sure the ranker may be of its best candidate in each pool."""
        return self.answers(ranker, pools)[0].confidence

    def decide(self, ranker: Ranker | str, pools: Sequence[Pool]) -> BoolArray:
        """For each pool, whether its best candidate is answered."""
        return self.answers(ranker, pools)[0].answered(self.threshold)

    def predictions(
        self, ranker: Ranker | str, pools: Sequence[Pool], on_batch: Callable[[int], None] = _nothing
    ) -> Predictions:
        """What the ranker answers to labelled questions, to be measured at the gate's threshold.

        Another ranker is refused, and so are pools that the gate was calibrated on.
        """
        self.check_pools(pools)
        answers, seen = self.answers(ranker, pools, on_batch)
        check_seen(pools, seen)
        return answers

    def answers(
        self, ranker: Ranker | str, pools: Sequence[Pool], on_batch: Callable[[int], None] = _nothing
    ) -> tuple[Predictions, BoolArray]:
        """What the ranker answers, and which of that somebody has judged; the rest counts as wrong."""
        ready = settled(ranker, pools)
        self.check_ranker(ready)
        return judge_answers(ready, pools, self._qualifier, on_batch)

    def save(self, path: str | Path) -> None:
        """Write the gate as JSON; it is there whole or not at all."""
        gate_file.write_gate(path, self.plain_threshold, self.certificate, self.marks, self.confidences)

    @classmethod
    def of(cls, ready: Calibration, risk: float, confidence: float = 0.95) -> Gate:
        """The gate for a risk, by labelled pools that are scored and judged already; or `NoThreshold`."""
        choice = ready.choice(risk, confidence)
        return cls(choice.threshold, ready.certificate(choice, risk, confidence), ready.marks, ready.kept())

    @classmethod
    def load(cls, path: str | Path) -> Gate:
        """The gate that a file holds, or a model folder in its gate.json."""
        path = Path(path)
        file = path / "gate.json" if path.is_dir() else path
        return cls(*gate_file.read_gate(file), place=file.absolute().parent)


def calibrate(
    ranker: Ranker | str,
    pools: Iterable[Pool],
    risk: float = 0.10,
    confidence: float = 0.95,
    *,
    qualifier: str | Qualifier = "margin",
    method: str = "ltt",
    starts: int = STARTS,
    seed: int = 0,
    grid: Iterable[Pool] | Sequence[float] | FloatArray | None = None,
    data: str = "",
    on_batch: Callable[[int], None] = _nothing,
) -> Gate:
    """A gate that keeps wrong answers to the risk, with the confidence given; or `NoThreshold`.

    A qualifier that has yet to learn, such as ``learned``, learns from a third of the pools, which then say
    nothing more. A tenth of the labelled pools only makes thresholds to test; pools without labels as `grid`
    save it. The grid may also be the thresholds themselves, if they were fixed without a look at these pools.
    """
    ready = Calibration.of(
        *(ranker, pools),
        how=resolve_qualifier(qualifier),
        method=method,
        starts=starts,
        seed=seed,
        grid=grid,
        data=data,
        on_batch=on_batch,
    )
    return Gate.of(ready, risk, confidence)
