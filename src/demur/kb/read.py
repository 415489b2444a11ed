"""A knowledge base as it is read: one generation of it, found by words and by meaning."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from demur.errors import DataError, UsageError
from demur.kb.index.meanings import Meanings
from demur.kb.index.scoring import scored
from demur.kb.index.words import Words, hexed
from demur.kb.passages import Passage
from demur.kb.store import schema
from demur.kb.store.truth import Generation, Truth
from demur.rankers.lexical.bm25 import idf
from demur.text import content, stemmer, tokenize
from demur.tokens import hash_words

if TYPE_CHECKING:
    from demur.embedders.base import Vectors
    from demur.types import FloatArray, IntArray

_DEPTH = 400  # passages of the index that are scored again
_log = logging.getLogger(__name__)


class ReadBase:
    """The passages of a folder's last generation; of a later one after `refresh`."""

    def __init__(self, path: str | Path, stem: str | None = None, wait: float = 60.0) -> None:
        if not isinstance(path, str | Path):
            raise UsageError(f"{type(path).__name__} is not a folder; name one by a string or a Path")
        self.path, self.wait = Path(path), wait
        self.tended = False
        """Whether its missing vectors are being made, as by a server, so that nobody need be told of them."""
        self._stem = stem
        if stem is not None:
            stemmer(stem)  # or it says which there are
        if self.path.exists() and not self.path.is_dir():
            raise DataError("is a file, not a knowledge base", path=self.path, fix="name another folder")
        self._opened: Truth | None = None
        self._view: Generation | None = None
        self._words = Words(self.path / "words", "")
        self._meanings = Meanings(self.path / "meanings")
        self._having: dict[str, int] = {}
        self._changed = (0, 0), 0.0  # what share has changed at a generation since another
        if (self.path / schema.NAME).is_file():
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
        now = self._now()
        places = np.unique(self._meanings.passages)
        return int(np.count_nonzero((places <= now.newest) & ~np.isin(places, self._dead)))

    def __len__(self) -> int:
        """How many passages there are; those that are alike count once."""
        return self._now().passages

    def __bool__(self) -> bool:
        """True: also an empty base is one."""
        return True

    def passage(self, place: int) -> Passage:
        """The passage at a place."""
        return self._truth().passage(place, self._now())

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
        return self._truth().copies(place, self._now())

    def by_words(self, question: str, top: int) -> tuple[IntArray, FloatArray]:
        """The places of passages that share a word with the question, best first, and their BM25 scores."""
        now = self._now()
        words = Counter(hexed(hash_words(content(tokenize(question)), self.stem)[0]))
        found = self._words.search(list(words), max(_DEPTH, 4 * top))
        searched = self._truth().searched(found)
        places = [place for place in found if place in searched]
        weights = {word: times * self._idf(word) for word, times in words.items()}
        scores = scored(
            [searched[place] for place in places], weights, self.stem, now.words / max(1, now.passages)
        )
        return self._best(np.array(places, np.int64), scores, top)

    def by_meaning(self, vector: Vectors, top: int) -> tuple[IntArray, FloatArray]:
        """The places of passages with the nearest vectors, best first, and the cosines."""
        now = self._now()
        found, cosines = self._meanings.search(vector, top, now.newest, self._dead)
        return self._best(found, cosines, top)

    def cosines(self, vector: Vectors, places: IntArray) -> tuple[FloatArray, FloatArray]:
        """Of each place the cosines with its own question and with all its text; nan without a vector."""
        self._now()
        return self._meanings.cosines(vector, places)

    def idf(self, word: str) -> float:
        """The weight of a word: the fewer passages have it, the higher."""
        hashes = hexed(hash_words([word], self.stem)[0])
        return self._idf(hashes[0]) if hashes else 0.0

    def close(self) -> None:
        """Close all files."""
        if self._opened is not None:
            self._opened.close()
        self._meanings.forget()
        self._opened = self._view = None

    def check_writable(self) -> None:
        """Raise an error if no change of the base could be kept."""
        if self._opened is not None:
            self._opened.check()  # a lock would make the folder anew
        if not schema.may_write(self.path / schema.NAME):
            raise schema.read_only(self.path)

    def refresh(self) -> None:
        """Answer from the last generation that can be read whole, from now on."""
        truth = self._truth()
        truth.check()
        view = self._readable(truth)
        if self._view is None or (view.number, view.mark) != (self._view.number, self._view.mark):
            self._having = {}
        self._view = view
        self._dead = np.array(truth.dead(view), np.int64)
        self._meanings.open(truth)
        self._meanings.load()

    def _truth(self) -> Truth:
        if self._opened is None:
            self._opened = self._open(None)
        return self._opened

    def _open(self, stem: str | None) -> Truth:
        truth = Truth(self.path / schema.NAME, stem)
        if self._stem not in (None, truth.stem):
            truth.close()
            fix = "leave the language out, or make another base"
            raise UsageError(f"{self.path}: keeps to stem={truth.stem}, not {self._stem}; {fix}")
        self._words = Words(self.path / "words", truth.stem)
        return truth

    def _now(self) -> Generation:
        if self._view is None:
            self.refresh()
        assert self._view is not None
        return self._view

    def _readable(self, truth: Truth) -> Generation:
        """The last generation, if the index of words is or can be brought there; else the index's own."""
        base, number, mark = self._words.state()
        last = truth.generation()
        mine = base == truth.base and (truth.knows(number, "" if mark == "-" else mark))
        if mine and number == last.number:
            return last
        if not schema.may_write(truth.path):
            self._words = Words(None, truth.stem)
            self._words.catch_up(truth, last)
            return last
        try:
            with self._lock("write", 0 if mine and truth.purged <= number else self.wait):
                self._words.catch_up(truth, truth.generation())
        except UsageError:
            if not mine or truth.purged > number:
                raise
            return truth.generation(number)  # whoever writes is about to do it
        return truth.generation()

    def _idf(self, word: str) -> float:
        if word not in self._having:
            self._having[word] = self._words.having(word)
        return float(idf(float(len(self)), np.array([self._having[word]], np.float64))[0])

    def _best(self, places: IntArray, scores: FloatArray, top: int) -> tuple[IntArray, FloatArray]:
        """The best, of those alike in score the first by source and number: so it is the same in any base."""
        if len(scores) > top:
            near = np.flatnonzero(scores >= np.partition(scores, -top)[-top])
            places, scores = places[near], scores[near]
        standing = self._truth().standings(places.tolist(), self._now())
        found = [at for at, place in enumerate(places.tolist()) if place in standing]
        order = sorted(found, key=lambda at: (-scores[at], standing[int(places[at])]))[:top]
        return places[order], scores[order]

    @contextmanager
    def _lock(self, name: str, wait: float | None = None) -> Iterator[None]:
        """A block that one process at a time is in; the lock ends with the process, also by a kill."""
        from filelock import FileLock, Timeout

        self.check_writable()
        lock = FileLock(self.path / f".{name}.lock")
        wait = self.wait if wait is None else wait
        try:
            try:
                lock.acquire(timeout=0)
            except Timeout:
                if wait:
                    _log.warning("%s: another process writes to it; waiting up to %g s", self.path, wait)
                lock.acquire(timeout=wait)
        except Timeout:
            raise UsageError(
                f"{self.path}: another process writes to it; try again when it is done"
            ) from None
        except OSError as error:
            raise schema.not_written(self.path, error) from None
        try:
            yield
        finally:
            lock.release()
