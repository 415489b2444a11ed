"""A knowledge base as it is read: one generation of it, found by words and by meaning."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from demur.errors import UsageError
from demur.kb.index.scoring import scored
from demur.kb.index.words import hexed
from demur.kb.passages import Passage
from demur.kb.store import schema
from demur.kb.store.place import store_at
from demur.kb.store.truth import Generation, Truth
from demur.rankers.lexical.bm25 import idf
from demur.text import content, stemmer, tokenize
from demur.tokens import hash_words

if TYPE_CHECKING:
    from demur.embedders.base import Vectors
    from demur.kb.store.place import Elsewhere
    from demur.types import FloatArray, IntArray

_DEPTH = 400  # passages of the index that are scored again
_KEPT = 2000  # passages in memory


class ReadBase:
    """The passages of a base's last generation; of a later one after `refresh`."""

    def __init__(self, path: str | Path | Elsewhere, stem: str | None = None, wait: float = 60.0) -> None:
        self._store = store_at(path)
        self.path, self.wait = self._store.path, wait
        self.tended = False
        """Whether its missing vectors are being made, as by a server, so that nobody need be told of them."""
        self._stem = stem
        if stem is not None:
            stemmer(stem)  # or it says which there are
        self._opened: Truth | None = None
        self._view: Generation | None = None
        self._having: dict[str, int] = {}
        self._standings: dict[int, tuple[Passage, int]] = {}
        self._found: set[int] = set()  # places that are about to be asked for
        self._changed = (0, 0), 0.0  # what share has changed at a generation since another
        if self._store.there:
            with suppress(schema.Empty):
                self._truth()

    @property
    def stem(self) -> str:
        """The language whose word endings do not count, or ``none``."""
        return self._truth().stem

    @property
    def generation(self) -> int:
        """The number of changes that what is asked has seen."""
        return self._now().number

    def state(self) -> Generation:
        """The generation that is read, with its mark, which no other base has."""
        return self._truth().generation(self.generation)

    def was_at(self, generation: int, mark: str) -> bool:
        """Whether a generation with such a mark is one of this base."""
        return self._truth().knows(generation, mark)

    def share_changed_since(self, generation: int) -> float:
        """The share of passages that are others than at a generation: 0 for none, 1 for all."""
        between = self._now().number, generation
        if self._changed[0] != between:
            self._changed = between, self._truth().share_changed_since(generation)
        return self._changed[1]

    @property
    def fingerprint(self) -> str:
        """A hash of all that is searched, and how; the same for a base made afresh of the same passages."""
        now = self._now()
        said = f"{self.stem} {now.passages} {now.words} {now.digest}"
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    @property
    def embedded(self) -> int:
        """How many passages can be found by meaning."""
        self._now()
        return self._store.meanings.embedded()

    def __len__(self) -> int:
        """How many passages there are; those that are alike count once."""
        return self._now().passages

    def __bool__(self) -> bool:
        """True: also an empty base is one."""
        return True

    @property
    def without_question(self) -> int:
        """How many passages have no question of their own, as a row of an FAQ has."""
        return self._truth().without_question(self._now())

    def passage(self, place: int) -> Passage:
        """The passage at a place."""
        return self._standing(place)[0]

    def all_places(self) -> list[int]:
        """The places of all passages, ascending."""
        texts = self._truth().texts(0, self._now())
        return [int(place) for rows in texts for place, *_ in rows]

    def places(self, id: str) -> list[int]:
        """The places of the passages that have this id; several where two sources use it."""
        return self._truth().places(id, self._now())

    def near(self, place: int, around: int) -> list[Passage]:
        """The passage at a place among so many before and after it in its source, in their order there."""
        return self._truth().near(place, around, self._now())

    def copies(self, place: int) -> int:
        """How many other passages are alike in heading and text."""
        return self._standing(place)[1]

    def by_words(self, question: str, top: int) -> tuple[IntArray, FloatArray]:
        """The places of passages that share a word with the question, best first, and their BM25 scores."""
        now = self._now()
        words = Counter(hexed(hash_words(content(tokenize(question)), self.stem)[0]))
        weights = {word: times * self._idf(word) for word, times in words.items()}
        found = self._store.words.search(weights, max(_DEPTH, 4 * top), now)
        searched = self._truth().searched(found)
        places = [place for place in found if place in searched]
        scores = scored(
            [searched[place] for place in places], weights, self.stem, now.words / max(1, now.passages)
        )
        return self._best(np.array(places, np.int64), scores, top)

    def by_meaning(self, vector: Vectors, top: int) -> tuple[IntArray, FloatArray]:
        """The places of passages with the nearest vectors, best first, and the cosines."""
        self._now()
        found, cosines = self._store.meanings.search(vector, top)
        return self._best(found, cosines, top)

    def cosines(self, vector: Vectors, places: IntArray) -> tuple[FloatArray, FloatArray]:
        """Of each place the cosines with its own question and with all its text; nan without a vector."""
        self._now()
        return self._store.meanings.cosines(vector, places)

    def idf(self, word: str) -> float:
        """The weight of a word: the fewer passages have it, the higher."""
        hashes = hexed(hash_words([word], self.stem)[0])
        return self._idf(hashes[0]) if hashes else 0.0

    @property
    def uploads(self) -> Path:
        """The folder where files wait that a server took, until they are in the base."""
        return self._store.uploads

    def gate_state(self) -> object:
        """What differs as soon as the base's own gate does; false where it has none."""
        return self._store.gate_state()

    def gate_file(self) -> Path:
        """A file with the base's own gate, as it is now."""
        return self._store.gate_file()

    def keep_gate(self, save: Callable[[Path], object]) -> None:
        """Keep what is written to the file that is named, as the base's own gate, safe from a crash."""
        self._store.keep_gate(save)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all files."""
        if self._opened is not None:
            self._opened.close()
        self._store.meanings.forget()
        self._opened = self._view = None

    def check_writable(self) -> None:
        """Raise an error if no change of the base could be kept."""
        if self._opened is not None:
            self._opened.check()  # a lock would make the folder anew
        self._store.check_writable()

    def refresh(self) -> None:
        """Answer from the last generation that can be read whole, from now on."""
        truth = self._truth()
        truth.check()
        view = self._store.readable(truth, self.wait)
        if self._view is None or (view.number, view.mark) != (self._view.number, self._view.mark):
            self._having, self._standings, self._found = {}, {}, set()
        self._view = view
        self._store.meanings.see(truth, view)

    def _truth(self) -> Truth:
        if self._opened is None:
            self._opened = self._open(None)
        return self._opened

    def _open(self, stem: str | None) -> Truth:
        truth = self._store.open(stem)
        if self._stem not in (None, truth.stem):
            truth.close()
            fix = "leave the language out, or make another base"
            raise UsageError(f"{self.path}: keeps to stem={truth.stem}, not {self._stem}; {fix}")
        return truth

    def _now(self) -> Generation:
        if self._view is None:
            self.refresh()
        assert self._view is not None
        return self._view

    def _idf(self, word: str) -> float:
        if word not in self._having:
            if len(self._having) >= _KEPT:
                self._having.clear()
            self._having[word] = self._store.words.having(word, self._now())
        return float(idf(float(len(self)), np.array([self._having[word]], np.float64))[0])

    def _best(self, places: IntArray, scores: FloatArray, top: int) -> tuple[IntArray, FloatArray]:
        """The best, of those alike in score the first by source and number: so it is the same in any base."""
        if len(scores) > top:
            near = np.flatnonzero(scores >= np.partition(scores, -top)[-top])
            places, scores = places[near], scores[near]
        standing = self._truth().standings(places.tolist(), self._now())
        found = [at for at, place in enumerate(places.tolist()) if place in standing]
        order = sorted(found, key=lambda at: (-scores[at], standing[int(places[at])]))[:top]
        self._found = {*self._found, *places[order].tolist()} if len(self._found) < _KEPT else set()
        return places[order], scores[order]

    def _standing(self, place: int) -> tuple[Passage, int]:
        """A passage and how many are alike; those that were found with it are read in the same statement."""
        now = self._now()
        if place not in self._standings:
            known = self._standings if len(self._standings) < _KEPT else {}
            wanted, self._found = {place, *self._found} - known.keys(), set()
            self._standings = known | self._truth().passages(sorted(wanted), now)
        if place not in self._standings:
            self._truth().passage(place, now)  # says that there is none
        return self._standings[place]
