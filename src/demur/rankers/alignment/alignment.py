"""Words of the question paired with words of the answer: the sum of the similarities of the best pairing.

After the Hungarian method of Vallee and others (SIGIR 2019), whose score is spelled
``alignment(vectors=…, similarity=dot, normalise=none)``. One thing differs: a text without a
known word scores 0, where their code gives it a vector of ones.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from demur.embedders.base import Embedder, Tokens
from demur.errors import UsageError
from demur.rankers.alignment.assignment import exact, maxsim
from demur.rankers.alignment.scores import Aligned, word_weights
from demur.rankers.alignment.word_grids import Part, in_parts, word_grids
from demur.rankers.base import Ranker
from demur.rankers.explanations import Explanation
from demur.rankers.lexical.overlap import Overlap
from demur.specs import Spec
from demur.types import FloatArray, IntArray, Pool

if TYPE_CHECKING:
    from collections.abc import Iterator

PAIRINGS = {"exact": exact, "maxsim": maxsim}
CHOICES = {
    "similarity": ("cosine", "dot"),
    "how": tuple(PAIRINGS),
    "weights": ("none", "idf"),
    "normalise": ("question", "shorter", "none"),
    "words": ("auto", "content", "all"),
}


@dataclass(frozen=True)
class Alignment(Ranker):
    """The sum of similarities between question words and answer words, paired so that it is largest.

    With `vectors`, a file or a name as for ``average``, a word has one vector (`clean` as there); else what
    the sentence encoder `model` (as for ``encoder``) gives it in its context. `how`: ``exact`` pairs one
    to one, ``maxsim`` each question word with the most similar answer word. `weights`: ``idf`` makes rare
    question words count more, over the texts that `stats` names, as in bm25. `normalise` divides by the
    question's words (their weights), by those of the shorter text, or not at all. `words`: ``content`` leaves
    out stop words, ``all`` does not; ``auto`` does only with `vectors`, as in context they carry meaning.
    """

    name: ClassVar[str] = "alignment"
    tolerance: ClassVar[float] = 1e-5  # with a model, which is a network; with vectors it is the usual
    vectors: str = ""
    model: str = ""
    similarity: str = "cosine"
    how: str = "exact"
    weights: str = "none"
    normalise: str = "question"
    words: str = "auto"
    clean: str = "paper"
    stats: str = "pool"
    rarity: Overlap = field(default=Overlap(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for setting, known in CHOICES.items():
            if (value := getattr(self, setting)) not in known:
                raise UsageError(f"{setting}={value} of alignment must be one of {', '.join(known)}")
        if self.vectors and self.model:
            raise UsageError("alignment takes vectors= or model=, not both; leave one out")
        if self.similarity == "dot" and not self.vectors:  # it ranks far worse there, and noise grows with it
            raise UsageError("similarity=dot of alignment is for vectors=; words in context need cosine")
        self.embedder  # noqa: B018  # wrong settings are told at once
        object.__setattr__(self, "rarity", Overlap(stats=self.stats if self.weights == "idf" else "pool"))
        if self.vectors:
            object.__setattr__(self, "tolerance", Ranker.tolerance)

    @property
    def parts(self) -> Sequence[Embedder]:
        """What makes the vectors of words."""
        return (self.embedder,)

    @cached_property
    def embedder(self) -> Embedder:
        """What makes the vectors."""
        from demur.embedders import embedder

        if self.vectors:
            return embedder("words", vectors=self.vectors, clean=self.clean)
        return embedder("encoder", **({"model": self.model} if self.model else {}))

    @property
    def kept(self) -> str:
        """Which words are paired: ``content`` or ``all``."""
        return self.words if self.words != "auto" else "content" if self.vectors else "all"

    @property
    def needs_preparing(self) -> bool:
        """Whether the statistics behind idf are still to be counted."""
        return self.rarity.needs_preparing

    def prepare(self, pools: Iterable[Pool]) -> Self:
        """The ranker with the statistics behind idf, if it needs any."""
        if not self.needs_preparing:
            return self
        prepared = dataclasses.replace(self)
        object.__setattr__(prepared, "rarity", self.rarity.prepare(pools))
        return prepared

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool; 0 where a text has no word with a vector."""
        scores: list[dict[str, float]] = [{} for _ in pools]
        for parts, aligned in self.aligned(pools):
            found = iter(aligned.scores.tolist())
            for part in parts:
                scores[part.pool].update(zip(part.answers, found))  # noqa: B905  # the others' come next
        return [
            np.array([mine[answer] for answer in pool.answers], np.float64)
            for pool, mine in zip(pools, scores, strict=True)
        ]

    def explain(self, question: str, answers: Sequence[str]) -> list[Explanation]:
        """One explanation per answer: the words that are paired."""
        explained: dict[str, Explanation] = {}
        for parts, aligned in self.aligned([Pool.of(question, answers)]):
            texts = [answer for part in parts for answer in part.answers]
            explained.update(zip(texts, aligned.explanations(question, texts), strict=True))
        return [explained[answer] for answer in answers]

    def aligned(self, pools: Sequence[Pool]) -> Iterator[tuple[list[Part], Aligned]]:
        """The pairs of words of all pairs of texts, batch after batch."""
        if self.needs_preparing:
            raise UsageError(
                f"{self.spec} has not seen its texts; call prepare(pools) and use what it returns"
            )
        for parts in in_parts(pools):
            texts = [text for part in parts for text in (part.question, *part.answers)]
            tokens = self.embedder.tokens(texts, self.kept)
            sizes = np.array([len(part.answers) for part in parts])
            weights = word_weights(tokens, parts, pools, self.rarity) if self.weights == "idf" else None
            yield parts, self.pair(tokens, sizes, weights)

    def pair(self, tokens: Tokens, sizes: IntArray, weights: FloatArray | None = None) -> Aligned:
        """The pairs of words of questions, each followed by as many answers as `sizes` says.

        `weights`, one per word, are those of the question words.
        """
        grids = word_grids(tokens, sizes, self.similarity == "cosine", weights)
        columns = PAIRINGS[self.how](grids)
        rows = np.flatnonzero(columns >= 0)
        columns = columns[rows]
        pairs, own = grids.pair[rows], np.ones(len(rows))
        if weights is not None:
            own = weights[grids.question[rows]]
        share = np.ones(len(rows))
        if self.normalise == "shorter":
            share = np.minimum(grids.words, grids.columns)[pairs].astype(np.float64)
        elif self.normalise == "question":
            share = grids.words[pairs].astype(np.float64)
            if weights is not None:
                sums = np.concatenate([[0.0], np.cumsum(weights)])
                share = (sums[grids.first + grids.words] - sums[grids.first])[pairs]
        adds = grids.cells[grids.starts[rows] + columns] / share
        return Aligned(tokens, grids, rows, columns, own / share, adds)

    @property
    def fingerprint(self) -> str:
        """A hash of the settings, of the vectors or the model, and of the statistics."""
        fields = (each.name for each in dataclasses.fields(self) if each.init)
        settings = {name: getattr(self, name) for name in fields if name not in ("vectors", "model")}
        known_by = f"{Spec(self.name, settings)} {self.embedder.fingerprint} {self.rarity.fingerprint}"
        return hashlib.sha256(known_by.encode()).hexdigest()[:16]
