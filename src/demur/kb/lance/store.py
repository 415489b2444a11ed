"""A base that is kept on an object store: published generations, and what finds passages in them."""

from __future__ import annotations

import hashlib
import secrets
import shutil
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from demur import cache
from demur.errors import DataError, LostBase
from demur.kb.lance import lease
from demur.kb.lance.address import Bucket
from demur.kb.lance.lake import RECORDS, Lake
from demur.kb.lance.lines import NoTable
from demur.kb.lance.meanings import VECTORS, LakeMeanings
from demur.kb.lance.small import BASE as SMALL
from demur.kb.lance.small import NOTES as NOTED
from demur.kb.lance.small import empty
from demur.kb.lance.truth import BASE, NOTES, PublishedTruth
from demur.kb.lance.view import OCCURRENCES, PASSAGES
from demur.kb.lance.words import LakeWords
from demur.kb.lance.work import make_tables
from demur.kb.store.place import Advance
from demur.kb.store.truth import Generation, Truth

_GATE = "gate"


class Published:
    """The tables of a base in a bucket."""

    def __init__(self, address: Bucket) -> None:
        self.path = address
        self.lake = Lake(address)
        self.words, self.meanings = LakeWords(), LakeMeanings(self.lake)
        self._truth: PublishedTruth | None = None
        self._be_still: Callable[[], None] | None = None
        self._folder: Path | None = None

    @property
    def there(self) -> bool:
        """Whether there is a base."""
        try:
            return BASE in self.lake.records()
        except NoTable:
            return False

    @property
    def uploads(self) -> Path:
        """The folder on this machine where files wait that a server took, until they are in the base."""
        called = hashlib.sha256(str(self.path).encode()).hexdigest()[:16]
        return cache.folder(f"uploads-{called}")

    def open(self, stem: str | None) -> Truth:
        """What the base holds; with `stem` it is made if it is not there."""
        if not self.there:
            if stem is None:
                fix = "make one with demur kb add"
                raise DataError("there is no knowledge base", path=str(self.path), fix=fix)
            self._make(stem)
        self._truth = self.words.truth = PublishedTruth(self.lake)
        if self._be_still:
            self._truth.begin()
        return self._truth

    def _make(self, stem: str) -> None:
        with self.lake.there():
            versions = make_tables(self.lake)
            small, base = empty(SMALL), secrets.token_hex(8)
            facts = {"base": base, "stem": stem, "purged": "0", **{k: str(v) for k, v in versions.items()}}
            small.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
            contents = {BASE: small.serialize(), NOTES: empty(NOTED).serialize(), _GATE: b""}
            self.lake.first(base, contents)

    def make(self) -> None:
        """Do nothing: tables are made when they are opened."""

    def unmake(self) -> None:
        """Take away the tables, if nothing was added by anybody."""
        if self._truth is not None and self.there:
            self._truth.check()
            if not self._truth.pin().number:
                if self._be_still:
                    self._be_still()
                for table in (RECORDS, PASSAGES, OCCURRENCES, VECTORS, lease.LEASES):
                    self.lake.drop(table)
        self._truth = self.words.truth = None
        self.lake = self.meanings.lake = Lake(self.path)

    def check_writable(self) -> None:
        """Raise an error if no change could be kept."""
        try:
            lease.check(self.lake)
        except NoTable:
            with self.lake.there():
                self.lake.records()
                lease.prepare(self.lake)

    @contextmanager
    def writing(self, wait: float) -> Iterator[None]:
        """A block in which no other process changes passages."""
        with lease.held(self.lake, "write", wait) as self._be_still:
            try:
                if self._truth is not None:
                    self._truth.wait = wait
                    self._truth.begin()
                yield
            finally:
                self._be_still = None
                if self._truth is not None:
                    self._truth.end()

    @contextmanager
    def embedding(self, wait: float) -> Iterator[None]:
        """A block in which no other process makes vectors; those that were made are kept in any case."""
        with lease.held(self.lake, "embed", wait):
            try:
                yield
            except LostBase:
                self.meanings.discard()
                raise
            finally:
                self.meanings.keep()

    def readable(self, truth: Truth, wait: float) -> Generation:
        """The last generation: its words are indexed when it is published."""
        assert isinstance(truth, PublishedTruth)
        return truth.pin()

    def catch_up(self, truth: Truth) -> None:
        """Publish what was changed."""
        assert isinstance(truth, PublishedTruth)
        if removed := truth.publish():
            self.meanings.open(truth)
            self.meanings.drop(removed)

    def index_anew(self, truth: Truth, advance: Advance | None) -> None:
        """Make the index of words anew."""
        assert isinstance(truth, PublishedTruth) and truth.work is not None
        truth.work.index_anew()
        truth.publish()
        if advance is not None:
            advance(truth.generation().passages)

    def gate_state(self) -> object:
        """What differs as soon as the base's own gate does; false where it has none."""
        with self.lake.there():
            return self.lake.records()[_GATE].turn

    def gate_file(self) -> Path:
        """A file with the base's own gate, as it is now."""
        path = self._passing() / "gate.json"
        path.unlink(missing_ok=True)
        with self.lake.there():
            if content := self.lake.records()[_GATE].content:
                path.write_bytes(content)
        return path

    def keep_gate(self, save: Callable[[Path], object]) -> None:
        """Keep the base's own gate."""
        path = self._passing() / "gate.json"
        save(path)
        with self.lake.there():
            while not self.lake.change(_GATE, self.lake.records()[_GATE], path.read_bytes()):
                pass

    def _passing(self) -> Path:
        """A folder that goes when the base is not needed any more."""
        if self._folder is None:
            self._folder = Path(mkdtemp(prefix="demur-gate-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder
