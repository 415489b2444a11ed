"""Passages found by words and by meaning, in one list, with what is known of each before any is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from demur import cache
from demur.asking.meaning import chance
from demur.asking.meaning.lacks import LACKS, lacks
from demur.asking.quoting import asked
from demur.embedders.base import Vectors
from demur.embedders.caching import CachedEmbedder, cached_in_memory, cached_on_disk
from demur.embedders.encoders.encoder import Encoder
from demur.embedders.encoders.loading import PACKAGED
from demur.embedders.vector_store import BoolArray
from demur.kb.base import Passages
from demur.kb.passages import Passage
from demur.rankers.vectors.cosine import pairwise
from demur.text import tokenize
from demur.types import FloatArray, IntArray

WIDE = 100
"""Passages that are found by words, and as many by meaning."""
_CODE = re.compile(r"(?:[a-z]{1,3}\d|[a-z]+\d{3})\w*")
"""Words such as e5844 or w12, which name one thing; their meaning says nothing of which."""
_NONE = -1.0  # the cosine with a question of its own, where a passage has none


@dataclass(frozen=True)
class FoundPassages:
    """The places of passages, likeliest first, their signals (see `chance.FOUND`) and chances."""

    places: IntArray
    signals: FloatArray
    chances: FloatArray
    near: FloatArray
    """The chances as they were if the first one lacked nothing."""
    own: BoolArray
    """Which have a question of their own."""
    alike: IntArray
    """The same number for passages with the same question: the parts of one answer."""
    lacks: FloatArray
    """What the question has that the first one lacks (see `lacks.LACKS`), if it has a question of its own."""
    named: BoolArray
    """Which have the codes of the question, such as e5844, where only some have them."""

    def with_the_named_first(self, chances: FloatArray) -> FloatArray:
        """These chances, where what is named by its code is as likely as all else, or likelier."""
        if not self.named.any() or self.named.all():
            return chances
        return np.where(self.named, np.maximum(chances, chances[~self.named].max()), chances)


def maker() -> Encoder:
    """What makes vectors of questions and passages: the encoder that comes with demur."""
    return Encoder(PACKAGED)


@lru_cache(maxsize=2)
def _embedder(place: str) -> CachedEmbedder:
    return cached_in_memory(cached_on_disk(maker()))


def vectors(texts: Sequence[str]) -> Vectors:
    """The vectors of texts; they are kept on disk, and the last ones in memory."""
    return _embedder(str(cache.root())).embed(texts)


def lacking(texts: Sequence[str]) -> int:
    """How many texts have no vector yet, neither on disk nor in memory."""
    return _embedder(str(cache.root())).lacking(texts)


def find(library: Passages, question: str, depth: int) -> FoundPassages:
    """The best passages that share words with a question, or are near to it in meaning."""
    places = np.zeros(0, np.int64)
    none, no, unlacking = np.zeros(0), np.zeros(0, bool), np.zeros((0, len(LACKS)))
    signals = np.zeros((0, len(chance.FOUND)))
    nothing = FoundPassages(places, signals, none, none, no, places, unlacking, no)
    if not tokenize(question):
        return nothing  # a vector of nothing would still be near to something
    by_words, scores = library.by_words(question, WIDE)
    vector = maker().embed([question])[0]
    by_meaning = np.zeros(0, np.int64)
    if library.embedder == maker().fingerprint:  # of vectors that something else made, none is near
        by_meaning, _ = library.by_meaning(vector, WIDE)
    places = np.array(list(dict.fromkeys([*by_words.tolist(), *by_meaning.tolist()])), np.int64)
    if not len(places):
        return nothing
    words = np.zeros(len(places))
    words[: len(by_words)] = scores / max(sum(map(library.idf, asked(question, library.stem))), 1e-9)
    passages = [library.passage(place) for place in places.tolist()]
    signals = chance.found_signals(words, *_cosines(library, vector, places, passages))
    own = np.array([bool(each.question) for each in passages])
    asks = {each.question: at for at, each in enumerate(passages) if each.question}
    alike = np.array([asks.get(each.question, at) for at, each in enumerate(passages)], np.int64)
    weights = chance.load().own
    missed = np.zeros((len(places), len(LACKS)))
    first = int(weights.ranks(chance.own_signals(signals, missed)).argmax())
    if own[first]:
        missed[first] = lacks_of(library, question, places[alike == alike[first]], places[first])
    of_found = chance.load().found.of(signals)
    chances, near = (
        np.where(own, weights.of(chance.own_signals(signals, each), alike), of_found)
        for each in (missed, np.zeros_like(missed))
    )
    found = FoundPassages(places, signals, chances, near, own, alike, missed, _named(question, passages))
    chances = found.with_the_named_first(chances)
    kept = np.lexsort((-near, ~found.named))[:depth]
    order = kept[np.lexsort((-chances[kept], ~found.named[kept]))]
    return FoundPassages(
        places[order],
        signals[order],
        chances[order],
        near[order],
        own[order],
        alike[order],
        missed[order],
        found.named[order],
    )


def _named(question: str, passages: Sequence[Passage]) -> BoolArray:
    """Which passages have most of a question's codes; none if all have."""
    codes = {word for word in tokenize(question) if _CODE.fullmatch(word)}
    if not codes:
        return np.zeros(len(passages), bool)
    having = np.array([len(codes & set(tokenize(f"{each.question}\n{each.searched}"))) for each in passages])
    return np.asarray((having == having.max()) & (having.min() < having.max()), np.bool_)


def lacks_of(library: Passages, question: str, parts: IntArray, place: int) -> FloatArray:
    """What a question has that the parts of an answer lack; `place` is that of one of them."""
    there = [library.passage(each) for each in parts.tolist()]
    text = "\n".join(f"{each.question}\n{each.searched}" for each in there)
    return lacks(question, library.passage(place).question or "", text, library, maker().embed)


def _cosines(
    library: Passages, vector: Vectors, places: IntArray, passages: Sequence[Passage]
) -> tuple[FloatArray, FloatArray]:
    """The cosines of a question with the passages' own questions, or -1 without one, and with their texts."""
    own, text = np.full((2, len(places)), np.nan)
    if library.embedder == maker().fingerprint:
        own, text = library.cosines(vector, places)
    asks = np.array([bool(each.question) for each in passages])
    lacking = [(own, at, passages[at].question) for at in np.flatnonzero(asks & np.isnan(own)).tolist()]
    lacking += [(text, at, passages[at].searched) for at in np.flatnonzero(np.isnan(text)).tolist()]
    if lacking:
        known = vectors([written for _, _, written in lacking])
        alike = pairwise(np.broadcast_to(vector, known.shape), known)
        for (column, at, _), cosine in zip(lacking, alike.tolist(), strict=True):
            column[at] = cosine
    return np.where(asks, own, _NONE), text
