"""Labels in doubt: two candidates of a question say nearly the same, and one is labelled right, one wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from demur.evaluation.comparison.wording import NEGATIONS, Wording, names_in, wording
from demur.types import Pool

ALIKE = 0.8
"""What share of all words of two near-duplicates both have."""


class Pair(NamedTuple):
    """The places of a right and a wrong candidate that say nearly the same."""

    right: int
    wrong: int


@dataclass(frozen=True)
class Doubtful:
    """How many labels are in doubt. One of each pair at least is wrong, or the question is unclear."""

    judged: int
    labels: int
    pairs: int
    same_words: int
    """Pairs of the very same words."""
    questions: int

    def to_json(self) -> dict[str, Any]:
        """The counts as plain values."""
        return asdict(self)


def near_duplicates(pool: Pool, relevant: int = 1) -> list[Pair]:
    """The pairs of a pool; candidates are right from the label `relevant` on."""
    labels = [(n, label) for n, label in enumerate(pool.labels) if label is not None]
    rights = [n for n, label in labels if label >= relevant]
    wrongs = [n for n, label in labels if label < relevant]
    if not rights or not wrongs:
        return []
    names, said = names_in(pool), [wording(text) for text in pool.answers]
    return [Pair(r, w) for r in rights for w in wrongs if alike(said[r], said[w], names)]


def alike(one: Wording, other: Wording, names: frozenset[str] = frozenset()) -> bool:
    """Whether two texts say nearly the same: they differ in few words, and in no number, name or negation."""
    either, odd = one.words | other.words, one.words ^ other.words
    few = len(odd) <= (1 - ALIKE) * len(either) + 1e-9
    return bool(either) and few and odd.isdisjoint(one.numbers | other.numbers | names | NEGATIONS)


def doubtful_labels(pools: Iterable[Pool], relevant: int = 1) -> Doubtful:
    """How many labels of some pools are in doubt."""
    judged = labels = pairs = same = questions = 0
    for pool in pools:
        judged += sum(label is not None for label in pool.labels)
        found = near_duplicates(pool, relevant)
        labels += len({place for pair in found for place in pair})
        pairs += len(found)
        same += sum(wording(pool.answers[r]).words == wording(pool.answers[w]).words for r, w in found)
        questions += bool(found)
    return Doubtful(judged, labels, pairs, same, questions)
