"""Passages made ready for questions."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import numpy as np

from demur.asking.meaning.ranker import by_meaning
from demur.asking.packaged import MEANING
from demur.asking.read_before import Files, Read
from demur.asking.searching import Search
from demur.embedders.base import Vectors
from demur.errors import UnknownName, UsageError
from demur.kb.files.documents import read_documents, readable
from demur.kb.passages import Passage
from demur.rankers import Ranker
from demur.rankers import ranker as resolve_ranker
from demur.rankers.vectors.cosine import pairwise
from demur.types import Candidate, FloatArray, IntArray, Pool

AS_FOUND = "bm25", "none"
"""In place of a second ranker: passages stay as BM25 found them."""
MOST = 2_000
"""Texts of which vectors are made while somebody waits; of more none are."""
_SOME = 200  # of which it takes long enough to say so
_PART = 500
_log = logging.getLogger(__name__)
Documents = str | Path | Passage | Files | Iterable[str | Path | Passage]


class Library:
    """Passages and their index. Of passages that are alike in heading and text, the first is kept.

    `stem` names the language whose word endings do not count; with ``none`` all count. Files
    that an earlier call has read come from the cache.
    """

    def __init__(self, documents: Documents, stem: str = "english") -> None:
        self.stem = stem
        files = _files(documents)
        read = files.read(stem) if files is not None else Read.of(_passages(documents), stem)
        self.passages, self._copies, self.index = read

    def __len__(self) -> int:
        return len(self.passages)

    @property
    def without_question(self) -> int:
        """How many passages have no question of their own, as a row of an FAQ has."""
        return sum(not passage.question for passage in self.passages)

    def passage(self, place: int) -> Passage:
        """The passage at a place."""
        return self.passages[place]

    def copies(self, place: int) -> int:
        """How many other passages are alike in heading and text."""
        return self._copies[place]

    @property
    def embedder(self) -> str:
        """The fingerprint of what makes the vectors."""
        from demur.asking.meaning.finding import maker

        return maker().fingerprint

    def idf(self, word: str) -> float:
        """The weight of a word: the fewer passages have it, the higher."""
        return self.index.idf(word)

    def by_words(self, question: str, top: int) -> tuple[IntArray, FloatArray]:
        """The places of passages that share a word with the question, best first, and their BM25 scores."""
        return self.index.search(question, top)

    def by_meaning(self, vector: Vectors, top: int) -> tuple[IntArray, FloatArray]:
        """The places of passages with the nearest vectors, best first, and the cosines.

        Of very many passages none is found so, as making their vectors would take minutes.
        """
        if self._meanings is None:
            return np.zeros(0, np.int64), np.zeros(0)
        cosines = np.full(len(self), -1.0)
        owners, known = self._meanings
        np.maximum.at(cosines, owners, (known @ vector).astype(np.float64))
        order = np.argsort(-cosines, kind="stable")[:top]
        return order.astype(np.int64), cosines[order]

    def cosines(self, vector: Vectors, places: IntArray) -> tuple[FloatArray, FloatArray]:
        """Of each place the cosines with its own question and with all its text; nan without a vector."""
        own, text = np.full((2, len(places)), np.nan)
        if self._meanings is None or not len(places):
            return own, text
        owners, known = self._meanings
        text = pairwise(np.broadcast_to(vector, (len(places), len(vector))), known[places])
        of_questions = owners[len(self) :]
        asked = np.flatnonzero(np.isin(places, of_questions))
        rows = len(self) + np.searchsorted(of_questions, places[asked])
        own[asked] = pairwise(np.broadcast_to(vector, (len(asked), len(vector))), known[rows])
        return own, text

    @property
    def has_vectors(self) -> bool:
        """Whether passages are found by their meaning: there are not too many to make vectors for."""
        return self._meanings is not None

    @cached_property
    def _meanings(self) -> tuple[IntArray, Vectors] | None:
        """The vectors of all texts and of all questions of their own, and whose they are."""
        from demur.asking.meaning.finding import lacking, vectors

        own = [place for place, passage in enumerate(self.passages) if passage.question]
        texts = [
            *(each.searched for each in self.passages),
            *(self.passages[place].question for place in own),
        ]
        if (different := len(set(texts))) > MOST:  # whatever is known of some, or answers would change by it
            why = f"they need {different:,} vectors, which takes minutes"
            fix = "a knowledge base has them made once (demur kb)"
            _log.warning(f"{len(self):,} passages are found by words alone: {why}; {fix}")
            return None
        if (new := lacking(texts)) > _SOME:
            _log.warning(f"{new:,} vectors are being made; they are kept for the next time")
        parts = range(0, max(len(texts), 1), _PART)  # each is kept as soon as it is made
        some = [vectors(texts[at : at + _PART]) for at in parts]
        return np.array([*range(len(self)), *own], np.int64), np.concatenate(some)

    def prepared(self, ranker: str | Ranker) -> Ranker:
        """The ranker, with the statistics of these passages where it needs any."""
        ranker = second_ranker(ranker)
        if not ranker.needs_preparing:
            return ranker
        candidates = tuple(Candidate(passage.id, passage.searched) for passage in self.passages)
        return ranker.prepare([Pool("library", "", candidates)])

    def search(self, ranker: str | Ranker | None = None) -> Search:
        """What is asked when this library is: a ranker of its passages, for which a gate is calibrated.

        Without a second ranker, or with one of `AS_FOUND`, passages stay as BM25 found them; ``meaning``
        finds by meaning too.
        """
        if ranker == MEANING:
            return by_meaning(self)
        alone = ranker is None or (isinstance(ranker, str) and ranker in AS_FOUND)
        return Search(self, None if ranker is None or alone else self.prepared(ranker))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that is searched, and how; where the passages come from does not matter."""
        digest = hashlib.sha256(f"{self.index.bm25.fingerprint} {len(self)}".encode())
        for passage in self.passages:
            digest.update(hashlib.sha256(passage.searched.encode("utf-8", "surrogatepass")).digest())
        return digest.hexdigest()[:16]


def second_ranker(who: str | Path | Ranker) -> Ranker:
    """The ranker that scores again what is found; an unknown name is told all that files can be asked by."""
    try:
        return resolve_ranker(who)
    except UnknownName as error:
        if error.kind != "ranker" or not str(who).startswith(error.name):
            raise
        raise UnknownName("ranker", error.name, [*error.known, MEANING, AS_FOUND[1]], error.also) from None


def _files(documents: Documents) -> Files | None:
    """The files to be read; None where there is anything else among the documents."""
    if isinstance(documents, Files):
        return documents
    if isinstance(documents, Path):
        return Files([documents])
    many = documents if isinstance(documents, list) else []
    paths = [each for each in many if isinstance(each, Path)]
    return Files(paths) if paths and len(paths) == len(many) else None


def _passages(documents: Documents) -> Iterator[Passage]:
    """The passages of files, and texts as they are."""
    if not isinstance(documents, str | Path | Passage | Iterable):
        raise UsageError(f"{type(documents).__name__} is not a document; pass a Path, a string or a Passage")
    many = [documents] if isinstance(documents, str | Path | Passage) else documents
    for number, document in enumerate(many):
        if isinstance(document, Passage):
            yield document
        elif isinstance(document, Path):
            yield from read_documents(document)
        elif isinstance(document, str):
            if len(document.split(None, 1)) == 1 and readable(Path(document)):
                raise UsageError(
                    f"{document!r} looks like a file, but a string is a text; pass Path({document!r})"
                )
            yield Passage(str(number), document)
        else:
            raise UsageError(
                f"{type(document).__name__} is not a document; pass a Path, a string or a Passage"
            )
