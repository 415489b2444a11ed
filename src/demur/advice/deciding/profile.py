"""What pools look like, in the few numbers by which one collection is like another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from demur.text import content, tokenize
from demur.types import Pool

_MOST = 500  # pools looked at
_ANSWERS = 50  # and answers of each


@dataclass(frozen=True)
class Profile:
    """Medians over pools; overlap is the mean share of a question's content words that an answer has."""

    pool_size: float
    question_words: float
    answer_words: float
    overlap: float

    @classmethod
    def of(cls, pools: Iterable[Pool]) -> Profile:
        """The profile of pools; of many, an evenly chosen part is looked at."""
        known = [pool for pool in pools if len(pool)]
        if not known:
            return cls(0.0, 0.0, 0.0, 0.0)
        rows = [_row(known[place]) for place in np.unique(np.linspace(0, len(known) - 1, _MOST).astype(int))]
        sizes, questions, answers, overlaps = (list(column) for column in zip(*rows, strict=True))
        return cls(
            float(np.median(sizes)),
            float(np.median(questions)),
            float(np.median(answers)),
            round(float(np.mean(overlaps)), 4),
        )

    def to_json(self) -> dict[str, float]:
        """The profile as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.pool_size:.0f} candidates to a question, questions of {self.question_words:.0f} words, "
            f"answers of {self.answer_words:.0f}, which have {100 * self.overlap:.0f} % of the question's"
        )


def nearest(own: Profile, others: Mapping[str, Profile]) -> list[str]:
    """The names of the others, the most alike first.

    How far two are apart is the sum over the four numbers of their difference as a share of its largest over
    all pairs; sizes and lengths count by their logarithms, for 10 and 20 are as unlike as 100 and 200.
    """
    table = np.array([_scaled(each) for each in (own, *others.values())])
    spread = np.maximum(np.ptp(table, axis=0), 1e-12)
    apart = (np.abs(table[1:] - table[0]) / spread).sum(axis=1)
    return [list(others)[place] for place in np.argsort(apart, kind="stable").tolist()]


def _scaled(profile: Profile) -> list[float]:
    values = {field.name: float(getattr(profile, field.name)) for field in fields(profile)}
    return [value if name == "overlap" else math.log1p(value) for name, value in values.items()]


def _row(pool: Pool) -> Sequence[float]:
    places = np.unique(np.linspace(0, len(pool) - 1, _ANSWERS).astype(int)).tolist()
    answers = [tokenize(pool.candidates[place].text) for place in places]
    asked = set(content(tokenize(pool.question)))
    shares = [len(asked.intersection(words)) / len(asked) for words in answers] if asked else [0.0]
    lengths = float(np.median([len(words) for words in answers]))
    return len(pool), len(tokenize(pool.question)), lengths, float(np.mean(shares))
