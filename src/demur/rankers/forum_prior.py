"""How much a text tells, rather than asks or thanks: what marks an answer among the comments of a thread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from demur.rankers.base import Ranker
from demur.types import FloatArray

_ASKS = re.compile(r"[?？؟՞፧]")
_ENDS = re.compile(r"[.!?…。！？｡؟۔।॥՞፧]")
_THANKS = re.compile(
    r"\b(?:thank|thanx|thx|cheers|appreciate|merci|danke|gracias|obrigad|grazie|спасибо)", re.I
)


@dataclass(frozen=True)
class ForumPrior(Ranker):
    """A prior for forums without the question: `length` * ln(1 + words) - asking - `thanks` if it thanks.

    Asking is the share of the question marks over one plus all marks that end a sentence. It is meant to be
    fused with a ranker that looks at the question.
    """

    name: ClassVar[str] = "forum-prior"
    length: float = 0.1
    thanks: float = 0.25

    def score(self, question: str, answers: Sequence[str]) -> FloatArray:
        """One score per answer."""
        return np.array([self._tells(answer) for answer in answers], dtype=np.float64)

    def _tells(self, text: str) -> float:
        asks = len(_ASKS.findall(text)) / (1 + len(_ENDS.findall(text)))
        thanks = self.thanks if _THANKS.search(text) else 0.0
        return self.length * float(np.log1p(len(text.split()))) - asks - thanks
