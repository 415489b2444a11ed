"""The labels that a knowledge base keeps, by question, and what each question is used for.

A question is used for one thing only, by a hash of its words: one in five fits, which places the thresholds
and may train a ranker; the others certify.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from demur.kb.folder import KnowledgeBase
from demur.kb.store.labels import Label, named
from demur.types import Candidate, Pool

FIT = 5
"""One question in so many fits; the others certify."""


def lot(question: str) -> int:
    """A number of 64 bits by chance, the same for the same words, whatever their case and signs."""
    said = named(question).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(said, digest_size=8, person=b"demur part").digest(), "big")


def fits(question: str) -> bool:
    """Whether a question fits; it certifies if not."""
    return lot(question) % FIT == 0


@dataclass(frozen=True)
class Labelled:
    """A question, and the passages that somebody called right and wrong; none is right where none answers."""

    question: str
    right: tuple[Label, ...]
    wrong: tuple[Label, ...]

    @property
    def stale(self) -> bool:
        """Whether its right passages are no more: nobody knows what answers it now."""
        return bool(self.right) and all(each.place is None for each in self.right)

    @property
    def pool(self) -> Pool:
        """The question with what was judged."""
        judged = [*self.right, *self.wrong]
        candidates = [
            Candidate(str(n), each.text, each.label, {"heading": each.heading})
            for n, each in enumerate(judged)
            if each.text.strip()
        ]
        return Pool(f"{lot(self.question):016x}", self.question, tuple(candidates))


def labelled(labels: Iterable[Label]) -> dict[str, Labelled]:
    """The labels by their questions; of questions that differ in case or signs alone, the last."""
    groups: dict[str, list[Label]] = {}
    for label in labels:
        groups.setdefault(label.question, []).append(label)
    found: dict[str, Labelled] = {}
    for question, some in groups.items():
        right = tuple(each for each in some if each.label)
        found[named(question)] = Labelled(
            question, right, tuple(each for each in some if not each.label and each.text)
        )
    return {each.question: each for each in found.values()}


def fresh(kb: KnowledgeBase) -> list[Labelled]:
    """The labelled questions whose labels still hold, in the order in which they were labelled first."""
    return [each for each in labelled(kb.labels()).values() if not each.stale]


def parted(known: Iterable[Labelled]) -> tuple[list[Labelled], list[Labelled]]:
    """The questions that certify, and those that fit."""
    both = list(known)
    return [each for each in both if not fits(each.question)], [each for each in both if fits(each.question)]
