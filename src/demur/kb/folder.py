"""A knowledge base that lasts: a folder with the truth, and what is derived of it to find passages."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.errors import DataError, UsageError
from demur.kb import labels, schema, syncing
from demur.kb.changing import KEPT, Source, change, purge
from demur.kb.embedding import embed
from demur.kb.labels import Label
from demur.kb.meanings import Meanings
from demur.kb.passages import Passage
from demur.kb.scoring import scored
from demur.kb.syncing import Report
from demur.kb.truth import Generation, Truth
from demur.kb.words import Words, hexed
from demur.rankers.bm25 import idf
from demur.text import content, stemmer, tokenize
from demur.tokens import hash_words

if TYPE_CHECKING:
    from demur.embedders.base import Vectors
    from demur.kb.embedding import Embeds
    from demur.types import Abstention, Answer, FloatArray, IntArray

_DEPTH = 400  # passages of the index that are scored again
_OFTEN = 100_000  # passages added, after which they are made findable before the rest is read
_log = logging.getLogger(__name__)
Advance = Callable[[int], None]


class KnowledgeBase:
    """Passages of files and folders, kept in a folder, that can be found by words and by meaning.

    Nothing is written before the first change, which makes the folder. What other processes change is seen
    after `refresh`; until then all answers are of one generation. `stem` names the language whose word
    endings do not count, english if not said; a base keeps to it. `wait` is how many seconds to wait for
    another process that writes.
    """

    def __init__(self, path: str | Path, stem: str | None = None, wait: float = 60.0) -> None:
        self.path, self.wait = Path(path), wait
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
        if (self.path / schema.NAME).is_file():
            with suppress(schema.Empty):
                self._truth()

    # what is asked

    @property
    def stem(self) -> str:
        """The language whose word endings do not count, or ``none``."""
        return self._truth().stem

    @property
    def generation(self) -> int:
        """The number of changes that what is asked has seen."""
        return self._now().number

    @property
    def fingerprint(self) -> str:
        """A hash of all that is searched, and how; the same for a base made afresh of the same passages."""
        import hashlib

        now = self._now()
        said = f"{self.stem} {now.passages} {now.words} {now.digest}"
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    def __len__(self) -> int:
        """How many passages there are; those that are alike count once."""
        return self._now().passages

    def __bool__(self) -> bool:
        """True: also an empty base is one."""
        return True

    def passage(self, place: int) -> Passage:
        """The passage at a place."""
        return self._truth().passage(place, self._now())

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

    def idf(self, word: str) -> float:
        """The weight of a word: the fewer passages have it, the higher."""
        hashes = hexed(hash_words([word], self.stem)[0])
        return self._idf(hashes[0]) if hashes else 0.0

    def ask(self, question: str, top: int = 5, **settings: Any) -> Answer | Abstention:
        """The answer to a question from these passages as they are now; the settings are those of `demur.ask`."""
        import demur

        self.refresh()
        return demur.ask(question, self, top=top, **settings)

    # what is changed

    def add(self, paths: str | Path | Iterable[str | Path], advance: Advance | None = None) -> list[Report]:
        """What became of each file: only those that are new or have changed are read."""
        return list(self.adding(paths, advance))

    def adding(
        self, paths: str | Path | Iterable[str | Path], advance: Advance | None = None
    ) -> Iterator[Report]:
        """What became of each file, as it goes in; when the last is told, all can be found by words."""
        many = [paths] if isinstance(paths, str | Path) else list(paths)
        with self._writing(make=True) as truth:
            yield from self._findable(truth, syncing.added(truth, many, advance))

    def updating(self, advance: Advance | None = None) -> Iterator[Report]:
        """What became of each file, as the base is brought up to date with its files and folders."""
        with self._writing() as truth:
            yield from self._findable(truth, syncing.updated(truth, advance))

    def update(self, advance: Advance | None = None) -> list[Report]:
        """What became of each file: the base is up to date with its files and folders."""
        return list(self.updating(advance))

    def put(self, name: str, passages: Iterable[Passage]) -> Report:
        """What became of passages with a name of their own, in the place of any that had it before."""
        with self._writing(make=True) as truth:
            rows = truth.rows("SELECT id, path FROM sources WHERE name = ? AND died IS NULL", (name,))
            if rows and rows[0][1]:
                raise UsageError(f"{name} is a file of this knowledge base; give the text another name")
            id = rows[0][0] if rows else 0
            with change(truth, f"put {name}") as made:
                count = made.put(Source(name, "text", id=id), passages)
            return list(self._findable(truth, iter([Report(name, "changed" if id else "added", count)])))[0]

    def remove(self, sources: str | Path | Iterable[str | Path]) -> list[Report]:
        """What was taken out: files by their names or paths, or all in a folder, in one change."""
        many = [sources] if isinstance(sources, str | Path) else list(sources)
        with self._writing() as truth:
            found = syncing.named(truth, many)
            for path in many:  # a folder that was taken out is not followed any more
                truth.rows("DELETE FROM folders WHERE path = ?", (str(Path(path).absolute()),))
            return list(self._findable(truth, syncing.removed(truth, found)))

    def rebuild(self, advance: Advance | None = None) -> None:
        """Nothing, once the index of words is made anew; vectors are made anew by the next `embed`."""
        import shutil

        with self._writing() as truth:
            now = truth.generation()
            shutil.rmtree(self.path / "words", ignore_errors=True)
            self._words = Words(self.path / "words", truth.stem)
            self._words.catch_up(truth, now, advance)
            purge(truth, now.number, 0)
            with self._lock("embed"):
                self._meanings.remove()
        self.refresh()

    def embed(self, embedder: Embeds, advance: Advance | None = None) -> int:
        """How many passages got vectors; may be broken off at any time, and goes on where it was."""
        self._now()
        with self._lock("embed"):
            count = embed(self._truth(), self._meanings, embedder, advance)
        self.refresh()
        return count

    @property
    def embedded(self) -> int:
        """How many passages can be found by meaning."""
        now = self._now()
        places = np.unique(self._meanings.passages)
        return int(np.count_nonzero((places <= now.newest) & ~np.isin(places, self._dead)))

    @property
    def embedder(self) -> str:
        """The fingerprint of what made the vectors; nothing where there are none."""
        self._now()
        return self._meanings.open(self._truth())

    # what is told

    def sources(self) -> list[tuple[str, str, int]]:
        """Name, kind and number of passages of each source."""
        number = self._now().number
        return [
            (name, kind, count)
            for name, kind, count in self._truth().rows(
                "SELECT name, kind, (SELECT count(*) FROM occurrences WHERE source = id) FROM sources "
                "WHERE born <= ? AND (died IS NULL OR died > ?) ORDER BY name",
                (number, number),
            )
        ]

    def share_changed_since(self, generation: int) -> float:
        """The share of passages that are others than at a generation: 0 for none, 1 for all."""
        return self._truth().share_changed_since(generation)

    def label(self, question: str, place: int | None, label: int) -> None:
        """Nothing, once it is kept that a passage answers (1) or not (0), or that none does (None, 0)."""
        labels.add(self._truth(), question, place, label, self._now())

    def labels(self) -> list[Label]:
        """All labels, in the order in which they were given."""
        return labels.every(self._truth())

    def close(self) -> None:
        """Nothing, once all files are closed."""
        if self._opened is not None:
            self._opened.close()
        self._meanings.forget()
        self._opened = self._view = None

    def refresh(self) -> None:
        """Nothing; from now on, what is asked is the last generation that can be read whole."""
        truth = self._truth()
        view = self._readable(truth)
        if self._view is None or (view.number, view.mark) != (self._view.number, self._view.mark):
            self._having = {}
        self._view = view
        self._dead = np.array(truth.dead(view), np.int64)
        self._meanings.open(truth)
        self._meanings.load()

    # how

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
        """The last generation, if the index of words is there or can be brought there; else the index's own."""
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

    def _findable(self, truth: Truth, reports: Iterator[Report]) -> Iterator[Report]:
        """The reports; now and then, and at the end, what they tell of can be found."""
        new = 0
        try:
            for report in reports:
                if report.status in ("added", "changed"):
                    new += report.passages
                if new >= _OFTEN:
                    self._words.catch_up(truth, truth.generation())
                    new = 0
                yield report
        finally:
            last = truth.generation()
            if self._words.state() != (truth.base, last.number, last.mark or "-"):
                self._words.catch_up(truth, last)
            purge(truth, last.number, KEPT)
            self.refresh()

    @contextmanager
    def _writing(self, make: bool = False) -> Iterator[Truth]:
        """A block in which no other process writes."""
        if make and not (self.path / schema.NAME).is_file():
            from demur.files import written

            if self.path.is_dir() and any(each.suffix != ".lock" for each in self.path.iterdir()):
                fix = "name a new folder for the knowledge base"
                raise DataError("is a folder of other things", path=self.path, fix=fix)
            with written(self.path):
                self.path.mkdir(exist_ok=True)
        elif self._opened is None and not (self.path / schema.NAME).is_file():
            self._truth()  # says that there is none
        if not schema.may_write(self.path / schema.NAME):
            raise DataError("may not be written", path=self.path, fix="change the folder's permissions")
        with self._lock("write"):
            if self._opened is None:
                self._opened = self._open(self._stem or "english")
            yield self._opened

    @contextmanager
    def _lock(self, name: str, wait: float | None = None) -> Iterator[None]:
        """A block that one process at a time is in; the lock ends with the process, also by a kill."""
        from filelock import FileLock, Timeout

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
            what = f"cannot be written ({error.strerror})"
            raise DataError(what, path=self.path, fix="change the folder's permissions") from None
        try:
            yield
        finally:
            lock.release()
