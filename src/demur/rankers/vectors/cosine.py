"""Cosine between the vector of a question and the vector of an answer, whatever makes the vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from demur.embedders.base import Embedder
from demur.embedders.caching import cached_if_asked, cached_in_memory
from demur.embedders.encoders.encoder import Encoder
from demur.embedders.encoders.loading import PACKAGED
from demur.embedders.word_vectors.embedder import WordVectors
from demur.rankers.base import Ranker
from demur.types import FloatArray, Pool

_PAIRS = 4096  # compared at once: their vectors are copied as doubles


def cosines(
    pools: Sequence[Pool], embedder: Embedder, of_questions: Embedder | None = None
) -> list[FloatArray]:
    """One array of cosines per pool, in double precision; 0 where a text has no vector.

    Each different text is embedded once, and each pair is computed by itself, so that neither the other
    pairs nor their order move a score. Questions may have an embedder of their own.
    """
    asked: dict[str, int] = {}
    answered: dict[str, int] = {}
    questions, answers = [], []
    for pool in pools:
        question = asked.setdefault(pool.question, len(asked))
        questions += [question] * len(pool.candidates)
        answers += [answered.setdefault(text, len(answered)) for text in pool.answers]
    if of_questions is None:
        both = embedder.embed([*asked, *answered])  # a text that is a question too is embedded once
        left, right = both[: len(asked)], both[len(asked) :]
    else:
        left, right = of_questions.embed(list(asked)), embedder.embed(list(answered))
    scores = np.empty(len(answers))
    for start in range(0, len(answers), _PAIRS):
        batch = slice(start, start + _PAIRS)
        scores[batch] = pairwise(left[questions[batch]], right[answers[batch]])
    ends = np.cumsum([len(pool) for pool in pools], dtype=np.int64)
    return np.split(scores, ends[:-1]) if len(pools) else []


def pairwise(left: ArrayLike, right: ArrayLike) -> FloatArray:
    """The cosine of each row of one with the same row of the other; 0 where either is all zeros."""
    a, b = np.asarray(left, np.float64), np.asarray(right, np.float64)
    dots, lengths = _dots(a, b), np.sqrt(_dots(a, a)) * np.sqrt(_dots(b, b))
    cosine: FloatArray = np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)
    return cosine


def _dots(a: FloatArray, b: FloatArray) -> FloatArray:
    dots: FloatArray = np.einsum("ij,ij->i", a, b)
    return dots


@dataclass(frozen=True)
class Average(Ranker):
    """Cosine of averaged word vectors; `vectors`, `weights`, `clean` and `stopwords` as in the embedder."""

    name: ClassVar[str] = "average"
    vectors: str = ""
    weights: str = "none"
    clean: str = "paper"
    stopwords: str = "drop"

    def __post_init__(self) -> None:
        self.embedder  # noqa: B018  # wrong settings are told at once

    @property
    def parts(self) -> Sequence[WordVectors]:
        """The vectors of words."""
        return (self.embedder,)

    @cached_property
    def embedder(self) -> WordVectors:
        """What makes the vectors."""
        return WordVectors(self.vectors, self.weights, self.clean, self.stopwords)

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool."""
        return cosines(pools, self.embedder)

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and of the vectors."""
        return hashlib.sha256(f"{self.name} {self.embedder.fingerprint}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class EncoderRanker(Ranker):
    """Cosine of the vectors that a sentence encoder gives both texts; settings as in the embedder.

    Without settings it is the one that comes with demur and needs no torch; ``encoder(model=minilm)`` is the
    network that it was made from, before it was taught. In the tables of the scarce-annotations paper it
    takes the place of the Universal Sentence Encoder. A prompt is put before each question, and before each
    answer; the default is the model's own for queries and for documents, if it has them. When pools come one
    at a time, the vectors of the last texts are cached in memory; for many pools together everything is
    computed, so that no score depends on what was scored before.
    """

    name: ClassVar[str] = "encoder"
    tolerance: ClassVar[float] = 1e-5
    alone: ClassVar[bool] = True
    model: str = PACKAGED
    revision: str = ""
    max_length: int = 0
    precision: str = "auto"
    device: str = "auto"
    question_prompt: str = ""
    answer_prompt: str = ""

    def __post_init__(self) -> None:
        for prompt in (self.question_prompt, self.answer_prompt):
            self._encoder(prompt)  # wrong settings are told at once

    def _encoder(self, prompt: str) -> Encoder:
        return Encoder(self.model, self.revision, self.max_length, self.precision, self.device, prompt)

    @property
    def parts(self) -> Sequence[Encoder]:
        """The encoders of questions and of answers."""
        return self.of_questions, self.of_answers

    @property
    def of_questions(self) -> Encoder:
        """What makes the vectors of questions."""
        return self._encoder(self.question_prompt or self._encoder("").how.prompt_for("query"))

    @property
    def of_answers(self) -> Encoder:
        """What makes the vectors of answers."""
        roles = "document", "passage", "corpus"
        return self._encoder(self.answer_prompt or self._encoder("").how.prompt_for(*roles))

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool, 0 where a text is empty."""
        asker, answerer = self.of_questions, self.of_answers
        if len(pools) == 1:
            return cosines(
                pools, cached_in_memory(answerer), None if asker == answerer else cached_in_memory(asker)
            )
        return cosines(
            pools, cached_if_asked(answerer), None if asker == answerer else cached_if_asked(asker)
        )

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and of the model's files, wherever they lie."""
        told = f"{self.name} {self.of_questions.fingerprint} {self.of_answers.fingerprint}"
        return hashlib.sha256(told.encode()).hexdigest()[:16]
