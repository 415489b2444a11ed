"""The passages of a base by their words: a tsvector of demur's own stemmed words, with a GIN index.

PostgreSQL's ranking knows neither how rare a word is nor how long a text, so the statement reckons BM25 from
the weights of the question's words. How often a word is there, n, is told by `ts_rank` of that word alone:
(1 + 1/4 + … + 1/n²) · 6/π². That sum falls short of π²/6, to which it tends, by about 1 / (n + 1/2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import pi
from typing import Any

import numpy as np

from demur.kb.index.words import hexed
from demur.kb.postgres.server import Server
from demur.kb.store.truth import Generation, Row
from demur.rankers.lexical.bm25 import BM25
from demur.tokens import hash_words

_MANY = 4096  # passages that are indexed together
_MOST = 64  # words of a question by which passages are found; all count when these are scored again
_OFTEN = 255  # times that a tsvector knows of a word
SEEN = "passage <= ? AND passage NOT IN (SELECT id FROM passages WHERE died <= ?)"
_TIMES = f"round(1 / ({pi**2 / 6} * (1 - ts_rank('{{1,1,1,1}}', words, ?::tsquery))) - 0.5)"


def index_words(server: Server, stem: str, after: int, born: int) -> None:
    """Index the words of passages above a place that are new in a generation."""
    while True:
        rows = server.rows(
            "SELECT id, heading, text FROM passages WHERE id > ? AND born >= ? ORDER BY id LIMIT ?",
            (after, born, _MANY),
        )
        if not rows:
            return
        hashes, counts = hash_words([f"{head}\n{text}" if head else text for _, head, text in rows], stem)
        words, start, entries = hexed(hashes), 0, []
        for (place, *_), count in zip(rows, counts.tolist(), strict=True):
            entries.append((place, count, _vector(words[start : start + count])))
            start += count
        server.executemany("INSERT INTO lexemes VALUES (?, ?, ?::tsvector)", entries)
        after = rows[-1][0]


def seen(now: Generation) -> tuple[int, int]:
    """The values for the condition that a passage is one of a generation."""
    return now.newest, now.number


class ServedWords:
    """The index of words."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def search(self, weights: Mapping[str, float], top: int, now: Generation) -> list[int]:
        """The places of passages that have one of these hashed words, best first by BM25.

        Passages that have light words only are looked for where they could be among the best: a word adds
        less to a score than its weight.
        """
        words = sorted(weights, key=lambda word: -weights[word])[:_MOST]
        known = {word: weights[word] for word in words}
        heavy = sum(2 * weight >= known[words[0]] for weight in known.values())
        found = self._matching(words[:heavy], known, top, now)
        least = found[-1][1] if len(found) == top else 0.0
        light = np.cumsum([*known.values()][::-1])[::-1]  # what a passage with a word or lighter ones can get
        needed = int(np.count_nonzero(light >= least))
        if needed > heavy:
            found = self._matching(words[:needed], known, top, now)
        return [place for place, _ in found]

    def _matching(
        self, words: list[str], weights: Mapping[str, float], top: int, now: Generation
    ) -> list[Row]:
        """The places of passages that have one of the words, and their scores by all, best first."""
        if not words:
            return []
        bm25 = BM25()
        damped = f"({bm25.k1 * (1 - bm25.b)} + {bm25.k1 * bm25.b} * length / ?)"
        each = f"? * (1 - {damped} / ({_TIMES} + {damped}))"
        mean = now.words / max(1, now.passages) or 1.0
        values: list[Any] = []
        for word, weight in weights.items():
            values += [weight, mean, word, mean]
        return self.server.rows(
            f"SELECT passage, {' + '.join([each] * len(weights))} AS score FROM lexemes "
            f"WHERE words @@ ?::tsquery AND {SEEN} ORDER BY score DESC, passage LIMIT ?",
            (*values, " | ".join(words), *seen(now), top),
        )

    def having(self, word: str, now: Generation) -> int:
        """How many passages have a hashed word."""
        count = f"SELECT count(*) FROM lexemes WHERE words @@ ?::tsquery AND {SEEN}"
        return int(self.server.rows(count, (word, *seen(now)))[0][0])


def _vector(words: list[str]) -> str:
    """A tsvector, in which each word has as many places as it is there."""
    return " ".join(
        f"{word}:{','.join(map(str, range(1, min(times, _OFTEN) + 1)))}"
        for word, times in Counter(words).items()
    )
