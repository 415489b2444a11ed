"""A base that is kept in a folder: the truth in SQLite, and what finds passages in files beside it."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from demur.errors import DataError, UnusableBase, UsageError
from demur.files import written
from demur.kb.index.meanings import SignedMeanings
from demur.kb.index.words import IndexedWords
from demur.kb.sources.spelling import is_utf8, whole
from demur.kb.store import schema
from demur.kb.store.file import FileTruth
from demur.kb.store.place import Advance
from demur.kb.store.truth import Generation, Truth
from demur.paths import exists, is_folder

GATE, UPLOADS = "gate.json", "uploads"
_log = logging.getLogger(__name__)


class Folder:
    """The files of a base."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not is_utf8(whole(path)):
            raise DataError("is a path that is not UTF-8", path=path, fix="name another folder")
        if exists(path) and not is_folder(path):
            raise DataError("is a file, not a knowledge base", path=path, fix="name another folder")
        self.words = IndexedWords(path / "words", "")
        self.meanings = SignedMeanings(path / "meanings")
        self.uploads = path / UPLOADS
        self._before: set[Path] | None = None

    @property
    def there(self) -> bool:
        """Whether there is a base."""
        return schema.holds(self.path / schema.NAME)

    def open(self, stem: str | None) -> Truth:
        """What the base holds; with `stem` it is made if it is not there."""
        truth = FileTruth(self.path / schema.NAME, stem)
        self.words = IndexedWords(self.path / "words", truth.stem)
        return truth

    def make(self) -> None:
        """Make the folder; an error where it is one of other things."""
        self._before = set(self.path.iterdir()) if self.path.is_dir() else None
        if self.there:
            return
        if schema.remains(self.path):
            _log.warning("%s: %s was gone; the base is made anew, without its labels", self.path, schema.NAME)
            for each in ("-wal", "-shm"):  # of the file that is gone
                (self.path / f"{schema.NAME}{each}").unlink(missing_ok=True)
        elif self.path.is_dir() and any(each.suffix != ".lock" for each in self.path.iterdir()):
            fix = "name a new folder for the knowledge base"
            raise DataError("is a folder of other things", path=self.path, fix=fix)
        with written(self.path):
            self.path.mkdir(exist_ok=True)

    def unmake(self) -> None:
        """Take away what was made; what was there before, if the folder was, stays."""
        made = set(self.path.iterdir()) - (self._before or set())
        for part in sorted(made, key=lambda part: part.suffix == ".lock"):  # who waits for that, goes on then
            shutil.rmtree(part) if part.is_dir() else part.unlink()
        if self._before is None:
            with suppress(OSError):  # whoever goes on has begun anew in it
                self.path.rmdir()

    def check_writable(self) -> None:
        """Raise an error if no change could be kept."""
        if not schema.may_write(self.path / schema.NAME):
            raise schema.read_only(self.path)

    def writing(self, wait: float) -> AbstractContextManager[None]:
        """A block in which no other process writes."""
        return self._lock("write", wait)

    def embedding(self, wait: float) -> AbstractContextManager[None]:
        """A block in which no other process makes vectors."""
        return self._lock("embed", wait)

    def readable(self, truth: Truth, wait: float) -> Generation:
        """The last generation, if the index of words is or can be brought there; else the index's own."""
        base, number, mark = self.words.state()
        last = truth.generation()
        mine = base == truth.base and (truth.knows(number, "" if mark == "-" else mark))
        if mine and number == last.number:
            return last
        if not schema.may_write(self.path / schema.NAME):
            self.words = IndexedWords(None, truth.stem)
            self.words.catch_up(truth, last)
            return last
        try:
            with self._lock("write", 0 if mine and truth.purged <= number else wait):
                self.words.catch_up(truth, truth.generation())
        except UsageError:
            if not mine or truth.purged > number:
                raise
            return truth.generation(number)  # whoever writes is about to do it
        except UnusableBase:  # it is gone, say, and not its index alone
            raise
        except DataError as error:  # a full disk, say
            _log.warning("%s", error)
            self.words = IndexedWords(None, truth.stem)
            self.words.catch_up(truth, last)
            return last
        return truth.generation()

    def catch_up(self, truth: Truth) -> None:
        """Bring the index of words to the last generation."""
        last = truth.generation()
        if self.words.state() != (truth.base, last.number, last.mark or "-"):
            self.words.catch_up(truth, last)

    def index_anew(self, truth: Truth, advance: Advance | None) -> None:
        """Make the index of words anew."""
        shutil.rmtree(self.path / "words", ignore_errors=True)
        self.words = IndexedWords(self.path / "words", truth.stem)
        self.words.catch_up(truth, truth.generation(), advance)

    def gate_state(self) -> object:
        """What differs as soon as the base's own gate does; false where it has none."""
        with suppress(OSError):
            stat = self.gate_file().stat()
            return stat.st_mtime_ns, stat.st_size, stat.st_ino
        return ()

    def gate_file(self) -> Path:
        """The file with the base's own gate."""
        return self.path / GATE

    def keep_gate(self, save: Callable[[Path], object]) -> None:
        """Keep the base's own gate, and wait until it is on the disk."""
        path = self.gate_file()
        save(path)
        for each in (path, path.parent):
            at = os.open(each, os.O_RDONLY)
            try:
                os.fsync(at)
            finally:
                os.close(at)

    @contextmanager
    def _lock(self, name: str, wait: float) -> Iterator[None]:
        """A block that one process at a time is in; the lock ends with the process, also by a kill."""
        from filelock import FileLock, Timeout

        self.check_writable()
        lock = FileLock(self.path / f".{name}.lock")
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
