"""What a gate promises, on what grounds, and where the promise ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from demur.risk.thresholds.control import PROMISING

SCOPE = (
    "It holds for questions drawn like the labelled ones, each independently of the others.",
    "It does not hold once questions or passages have changed; `demur calibrate --check` looks for that.",
    "It is as good as the labels: a wrong label counts as an error, or hides one.",
    "It is used up by the questions it was made on: measure the gate on others, and if you choose between "
    "rankers, confidences or risks by what came out, calibrate the chosen one on fresh questions.",
    "It is about the answers given, taken together: not about each one, and not about how many are given.",
)
ANSWERS, UNANSWERABLE = "answers", "unanswerable questions"
"""What a promise is about: the answers that are given, or the questions that have no answer."""
SCOPE_WITHOUT_LABELS = (
    "It does not say how many of the given answers are right: that needs labels, and "
    "`demur calibrate meaning LABELLED --from FILES` (or `--kb BASE`).",
    "It holds for questions like those of the entries, in topic and in wording, that have no answer here.",
    "It is exact for the files without the entries that were removed. With all of them there are more "
    "that a question may be near to: leaving out one at a time is an estimate of that, and no promise.",
    "Entries that say nearly the same count as errors: join them, and calibrate again.",
    "It does not hold once the files have changed, nor if you try several seeds and keep the best.",
)


@dataclass(frozen=True)
class Certificate(Mapping[str, Any]):
    """The grounds of a gate's promise, also readable as a mapping of plain values."""

    risk: float
    confidence: float
    questions: int  # tested on; all of them labelled
    accepted: int
    errors: int
    bound: float  # upper bound on the risk, by the test that this threshold passed
    method: str
    seed: int
    pools: int  # given, with those that only made thresholds or had no candidates
    pools_sha256: str  # of the sorted ids
    data: str
    ranker: str
    ranker_fingerprint: str
    qualifier: str
    demur: str
    about: str = ANSWERS

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys():
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys())

    def __len__(self) -> int:
        return len(self._keys())

    def _keys(self) -> list[str]:
        return [each.name for each in fields(self) if each.name != "about" or self.about != ANSWERS]

    @property
    def scope(self) -> tuple[str, ...]:
        """Where the promise holds and where it does not, a sentence each."""
        if not self.promising:
            return ()
        return SCOPE_WITHOUT_LABELS if self.about == UNANSWERABLE else SCOPE

    @property
    def promising(self) -> bool:
        """Whether the method keeps the promise; some are there only to compare with."""
        return self.method in PROMISING

    @property
    def promise(self) -> str:
        """The promise in one plain sentence."""
        if not self.promising:
            seen = f"{self.errors:,} of {self.accepted:,} answers" if self.accepted else "no answers"
            return (
                f"At this threshold {seen} were wrong on {self.questions:,} labelled questions; "
                f"the method {self.method} promises nothing about others."
            )
        if self.about == UNANSWERABLE:
            return (
                f"Of questions like these files' own that have no answer in them, at most "
                f"{percent(self.risk)} are answered, with {percent(self.confidence)} confidence: "
                f"{self.questions:,} entries were removed and asked about, and {self.errors:,} answered."
            )
        return (
            f"Answers at this threshold were wrong at most {percent(self.risk)} of the time, with "
            f"{percent(self.confidence)} confidence, on {self.questions:,} labelled questions like these."
        )


def sure(confidence: float, digits: int = 2) -> str:
    """A confidence as people read it, which is never rounded up to certainty."""
    shown = f"{confidence:.{digits}g}"
    return f"above 0.{'9' * digits}" if shown == "1" and confidence <= 1 else shown


def told_apart(confidence: float, threshold: float) -> tuple[str, str]:
    """A confidence and a threshold, with as many digits as it takes to tell them apart."""
    digits = 2 if max(abs(confidence), abs(threshold)) < 10 else 4
    while digits < 17:
        least = f"{threshold:.{digits}g}"
        alike = confidence != threshold and f"{confidence:.{digits}g}" == least
        if not alike and (least != "1" or threshold >= 1):
            break
        digits += 1
    return sure(confidence, digits), f"{threshold:.{digits}g}"


def percent(share: float) -> str:
    """A share as people write it."""
    digits = 4
    while 0 < share < 1 and digits < 17 and f"{100 * share:.{digits}g}" in ("100", "0"):
        digits += 1
    return f"{100 * share:.{digits}g} %"
