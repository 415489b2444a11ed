"""How likely each found passage is to be right: what is known of it, weighed by a small logistic regression.

The words it shares with the question, how near it is in meaning, how far it is ahead of the next, and what
the network said, if it has read the passage. `tools.make_chance` learns the weights; none is negative,
so nothing that speaks for a passage ever counts against it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import demur
from demur.asking.meaning.lacks import LACKS
from demur.errors import DataError
from demur.logistic import expit
from demur.types import FloatArray, IntArray

FILE = Path(demur.__file__).parent / "models" / "chance.json"
FORMAT = "demur chance 7"
FOUND = "words", "meaning", "text"
"""What is known of a passage once it is found.

- words: its BM25 score as a share of what a passage with all of the question's words could have
- meaning: the higher of the cosines of the question with its own question and with all its text
- text: the cosine of the question with all its text
"""
OWN = "meaning", "text", *LACKS
"""What counts of a passage with a question of its own, as a row of an FAQ has: the network knows which
sentence holds a fact, and not which question is the same, so it has no say in these. What the question has
and the row lacks is known of the first row alone, and never ranks."""
READ = (*FOUND, "score", "quote", "words among", "meaning among")
"""What is known once the network has read it.

- score: the network's
- quote: how sure it is of its quotation, as the log of the odds
- words among, meaning among: how far the first two signals stand out among those of all that was read; so
  the network decides where it tells passages apart, and meaning where it takes one for as good as another
"""
_CALM = 0.05  # signals that differ less than this stand out little
_FEW = 4
_USUAL, _SPREAD = np.array([0.04, 0.32]), np.array([0.045, 0.06])
"""Words and meaning of what is read in handbooks and does not answer: their means, and how they spread."""


def found_signals(words: FloatArray, own: FloatArray, text: FloatArray) -> FloatArray:
    """The signals of passages, a row for each; `own` is the cosine with their own questions, or -1."""
    return np.column_stack([words, np.maximum(own, text), text])


def own_signals(before: FloatArray, lacks: FloatArray) -> FloatArray:
    """The signals of passages with a question of their own."""
    return np.column_stack([before[:, 1:], lacks])


def read_signals(before: FloatArray, scores: FloatArray, confidences: FloatArray) -> FloatArray:
    """The signals of passages that the network has read."""
    odds = np.log(np.clip(confidences, 1e-4, 1 - 1e-4) / np.clip(1 - confidences, 1e-4, 1))
    return np.column_stack([before, scores, odds, among(before[:, :2])])


def among(signals: FloatArray) -> FloatArray:
    """How many standard deviations words and meaning are above their means over all passages.

    Of fewer than four nothing can stand out much, so others that are usual are thought beside them.
    """
    if not len(signals):
        return signals
    count, more = max(len(signals), _FEW), max(0, _FEW - len(signals))
    mean = (signals.sum(axis=0) + more * _USUAL) / count
    spread = ((signals - mean) ** 2).sum(axis=0) + more * ((_USUAL - mean) ** 2 + _SPREAD**2)
    return np.asarray((signals - mean) / (np.sqrt(spread / count) + _CALM), np.float64)


def ahead(values: FloatArray, alike: IntArray | None = None) -> FloatArray:
    """By how much each value is above the best of the others; 0 where it is alone.

    Those with the same number in `alike`, such as the parts of one answer, are no others to each other.
    """
    _, which = np.unique(np.arange(len(values)) if alike is None else alike, return_inverse=True)
    best = np.full(int(which.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(best, which, values)
    if len(best) < 2:
        return np.zeros(len(values))
    second, first = np.partition(best, -2)[-2:]
    return np.asarray(values - np.where(best == first, second, first)[which], np.float64)


@dataclass(frozen=True, eq=False)
class Weights:
    """How signals rank passages, and how likely they make them.

    The odds of the first passage come from its lead over the next and from its signals, which say how well
    the question can be answered at all. Those of another are lower by how far it is behind the first.
    So the likelier one is always the one ranked higher.
    """

    rank: FloatArray
    constant: float
    lead: float
    lag: float
    level: FloatArray

    def ranks(self, signals: FloatArray) -> FloatArray:
        """The scores by which passages are ranked."""
        return np.asarray(signals @ self.rank, np.float64)

    def parts(self, signals: FloatArray, alike: IntArray | None = None) -> FloatArray:
        """What adds up to the log of the odds: of each passage its lead, then each signal of the first."""
        if not len(signals):
            return np.zeros((0, 1 + signals.shape[1]))
        ranks = self.ranks(signals)
        first = signals[int(ranks.argmax())] * self.level
        by = ahead(ranks, alike)
        return np.column_stack(
            [np.where(by > 0, self.lead, self.lag) * by, np.tile(first, (len(signals), 1))]
        )

    def of(self, signals: FloatArray, alike: IntArray | None = None) -> FloatArray:
        """The chance of each passage."""
        return expit(self.constant + self.parts(signals, alike).sum(axis=1))


@dataclass(frozen=True)
class Chance:
    """The weights before and after the network has read a passage, of those with a question, and a hash."""

    found: Weights
    read: Weights
    own: Weights
    fingerprint: str


@lru_cache(maxsize=2)
def load(path: Path = FILE) -> Chance:
    """What was learnt, as it lies in a file."""
    import hashlib

    try:
        text = path.read_text("utf-8")
        facts = json.loads(text)
        if facts["format"] != FORMAT:
            raise ValueError(FORMAT)
        found_then = _weights(facts["found"], FOUND)
        read_then, of_own = _weights(facts["read"], READ), _weights(facts["own"], OWN)
    except (OSError, ValueError, KeyError, TypeError) as error:
        fix = "install demur again"
        raise DataError(f"is broken ({type(error).__name__})", path=path, fix=fix) from None
    counted = json.dumps([facts[part] for part in ("found", "read", "own")], sort_keys=True)
    return Chance(found_then, read_then, of_own, hashlib.sha256(counted.encode()).hexdigest()[:16])


def _weights(facts: dict[str, Any], signals: tuple[str, ...]) -> Weights:
    rank, level = (np.array([float(facts[part][name]) for name in signals]) for part in ("rank", "level"))
    constant, lead, lag = (float(facts[name]) for name in ("constant", "lead", "lag"))
    return Weights(rank, constant, lead, lag, level)
