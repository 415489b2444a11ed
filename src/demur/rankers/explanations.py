"""Why an answer has its score: which words of the question met which words of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from demur.text import token_spans
from demur.tokens import hash_words
from demur.types import FloatArray, Span

if TYPE_CHECKING:
    from demur.rankers.lexical.matches import Matches


@dataclass(frozen=True, slots=True)
class WordPair:
    """A word of the question and a word of the answer that add to the score together."""

    question: Span
    answer: Span
    similarity: float
    weight: float

    @property
    def contribution(self) -> float:
        """What the pair adds to the score."""
        return self.similarity * self.weight


@dataclass(frozen=True, slots=True)
class Explanation:
    """The score of an answer as the sum of what its pairs of words contribute, in the question's order."""

    score: float
    pairs: tuple[WordPair, ...]


@runtime_checkable
class Explains(Protocol):
    """A ranker that can say where its scores come from."""

    def explain(self, question: str, answers: Sequence[str]) -> list[Explanation]:
        """One explanation per answer, of the scores that ``score(question, answers)`` gives."""


def shared_words(
    question: str, answers: Sequence[str], matches: Matches, cells: FloatArray, stem: str
) -> list[Explanation]:
    """Explanations of a sum over shared words, from what each question word adds to each answer.

    A word that an answer has several times adds an equal part at each of its places. In the question it is
    shown where it first stands.
    """
    first: dict[int, Span] = {}
    for word, span in _words(question, stem):
        first.setdefault(word, span)
    scores, explanations = matches.sums(cells), []
    for number, answer in enumerate(answers):
        places: dict[int, list[Span]] = {}
        for word, span in _words(answer, stem):
            places.setdefault(word, []).append(span)
        mine = np.flatnonzero((matches.answer == number) & (matches.counts > 0))
        adds = dict(zip(matches.hashes[matches.term[mine]].tolist(), cells[mine].tolist(), strict=True))
        pairs = [
            WordPair(span, place, 1.0, adds[word] / len(places[word]))
            for word, span in first.items()
            if word in adds
            for place in places[word]
        ]
        explanations.append(Explanation(float(scores[number]), tuple(pairs)))
    return explanations


def _words(text: str, stem: str) -> list[tuple[int, Span]]:
    """The hash of each word of a text, with where it stands."""
    found = list(token_spans(text))
    hashes, counts = hash_words([word for word, _, _ in found], stem)
    spans = [Span(start, end, text[start:end]) for _, start, end in found]
    repeated = [span for span, count in zip(spans, counts.tolist(), strict=True) for _ in range(count)]
    return list(zip(hashes.tolist(), repeated, strict=True))
