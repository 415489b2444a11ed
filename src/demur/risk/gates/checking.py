"""A gate held against new questions: whether labels contradict it, whether confidences look alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from demur.data import binary
from demur.errors import UsageError
from demur.rankers import Ranker
from demur.risk.gates.certificate import ANSWERS, percent
from demur.risk.gates.gate import Gate
from demur.risk.gates.judging import check_seen, finite
from demur.risk.thresholds.bounds import surprise
from demur.types import Pool

DOUBT = 0.01  # how improbable something must be to be called a contradiction or a shift


@dataclass(frozen=True)
class Check:
    """What new questions say about a gate."""

    questions: int  # with candidates
    accepted: int
    risk: float  # promised
    labelled: bool
    errors: int | None  # among those accepted; None without labels
    surprise: float | None  # the chance of so many errors or more, if the promise holds
    distance: float  # between the two distributions of confidence: 0 alike, 1 apart (Kolmogorov-Smirnov)
    alike: float  # the chance of such a distance or a larger one among questions drawn alike

    @property
    def contradicted(self) -> bool:
        """Whether there are too many errors for the promise."""
        return self.surprise is not None and self.surprise < DOUBT

    @property
    def shifted(self) -> bool:
        """Whether the confidences are too different for questions like those calibrated on."""
        return self.alike < DOUBT

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings, a plain sentence each."""
        return self._errors(), self._shift()

    def _errors(self) -> str:
        if self.errors is None or self.surprise is None:
            return f"The questions have no labels: {self.accepted:,} of {self.questions:,} would be answered."
        if not self.accepted:
            return f"None of the {self.questions:,} questions passes the gate, so nothing tests the promise."
        share = percent(round(self.errors / self.accepted, 3))
        seen = f"{self.errors:,} of {self.accepted:,} answers are wrong ({share})"
        if self.contradicted:
            return (
                f"{seen}: this contradicts the promise of at most {percent(self.risk)}, under which so many "
                f"or more have a chance of {self.surprise:.2g}; calibrate again on such questions."
            )
        return (
            f"{seen}: this does not contradict the promise of at most {percent(self.risk)}, under which so "
            f"many or more have a chance of {self.surprise:.2g}."
        )

    def _shift(self) -> str:
        found = f"distance {self.distance:.2f}, chance {self.alike:.2g} among questions drawn alike"
        if self.shifted:
            return (
                f"The confidences differ from those calibrated on ({found}): the questions are of another "
                "kind, and the promise need not hold for them."
            )
        return f"The confidences look like those calibrated on ({found})."


def check(
    gate: Gate,
    ranker: Ranker | str,
    pools: Sequence[Pool],
    *,
    on_batch: Callable[[int], None] = lambda pairs: None,
) -> Check:
    """What new questions, labelled or not, say about a gate; those it was calibrated on are refused."""
    from scipy.stats import ks_2samp

    if gate.certificate.about != ANSWERS:
        what = "this gate was made without labels, and says nothing of how many answers are right"
        raise UsageError(f"{what}; check one that demur calibrate made with labels")
    filled = [pool for pool in binary(pools) if len(pool)]
    if not filled:
        raise UsageError(
            "there are no questions with candidates to check the gate on; name data that has some"
        )
    gate.check_pools(filled)
    answers, seen = gate.answers(ranker, filled, on_batch)
    labelled = bool(seen.any())
    if labelled:
        check_seen(filled, seen)
    answered = answers.answered(gate.threshold)
    accepted, errors = int(answered.sum()), int(answers.wrong[answered].sum())
    risk = gate.certificate.risk
    # The confidences kept of many are spread more evenly than a sample, so the chance comes out too large
    # rather than too small; so it does where confidences are tied.
    distance, alike = ks_2samp(finite(answers.confidence), gate.confidences)
    return Check(
        questions=len(filled),
        accepted=accepted,
        risk=risk,
        labelled=labelled,
        errors=errors if labelled else None,
        surprise=float(surprise(errors, accepted, risk)) if labelled else None,
        distance=float(distance),
        alike=float(np.clip(alike, 0, 1)),
    )
