"""What pools look like: how many, how long, how labelled, with a few of them to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from demur.data.datasets import relevant as lowest_right
from demur.data.subsets import sample
from demur.types import Pool

_QUANTILES = {"min": 0.0, "25%": 0.25, "50%": 0.5, "75%": 0.75, "95%": 0.95, "max": 1.0}


@dataclass(frozen=True)
class Summary:
    """The figures of a split or file. Of sizes, and lengths in words, the quantiles.

    Answers are right from the label `relevant` on; so many pools are `answerable`, and `clean`.
    """

    pools: int
    relevant: int
    pairs: int
    answerable: int
    clean: int
    without_candidates: int
    empty_answers: int
    repeated_pool_ids: int
    repeated_candidate_ids: int
    labels: dict[str, int]
    pool_sizes: dict[str, int]
    question_words: dict[str, int]
    answer_words: dict[str, int]
    samples: tuple[Pool, ...]


def summarise(pools: Iterable[Pool], samples: int = 3, relevant: int | None = None) -> Summary:
    """The figures of some pools, which are read once and not kept, and `samples` of them, drawn by id.

    Answers are right from the label `relevant` on, or else from the one that the pools name.
    """
    tally = _Tally(lowest_right(pools) if relevant is None else relevant)
    drawn = tuple(sample(tally.seen(pools), samples))
    counts, sizes = tally.counts, tally.sizes
    return Summary(
        pools=len(sizes),
        relevant=tally.relevant,
        pairs=sum(sizes),
        answerable=counts["answerable"],
        clean=counts["clean"],
        without_candidates=sizes.count(0),
        empty_answers=tally.answers.count(0),
        repeated_pool_ids=len(sizes) - len(tally.ids),
        repeated_candidate_ids=counts["repeated"],
        labels={"unjudged" if label is None else str(label): tally.labels[label] for label in tally.order()},
        pool_sizes=_quantiles(sizes),
        question_words=_quantiles(tally.questions),
        answer_words=_quantiles(tally.answers),
        samples=drawn,
    )


class _Tally:
    """What is counted while pools pass by."""

    def __init__(self, relevant: int) -> None:
        self.relevant = relevant
        self.counts: Counter[str] = Counter()
        self.labels: Counter[int | None] = Counter()
        self.ids: set[str] = set()
        self.sizes: list[int] = []
        self.questions: list[int] = []
        self.answers: list[int] = []

    def seen(self, pools: Iterable[Pool]) -> Iterator[Pool]:
        for pool in pools:
            self.ids.add(pool.id)
            self.sizes.append(len(pool))
            self.questions.append(len(pool.question.split()))
            self.answers.extend(len(text.split()) for text in pool.answers)
            self.labels.update(pool.labels)
            right = sum(label is not None and label >= self.relevant for label in pool.labels)
            self.counts["answerable"] += right > 0
            self.counts["clean"] += 0 < right < len(pool)
            self.counts["repeated"] += len(pool) - len({candidate.id for candidate in pool.candidates})
            yield pool

    def order(self) -> list[int | None]:
        return sorted(self.labels, key=lambda label: (label is None, label or 0))


def _quantiles(values: list[int]) -> dict[str, int]:
    """Lengths that occur: half of all are at most the one called 50%."""
    if not values:
        return {}
    found = np.quantile(values, list(_QUANTILES.values()), method="inverted_cdf")
    return {name: int(value) for name, value in zip(_QUANTILES, found, strict=True)}
