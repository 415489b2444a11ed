"""A base that is kept in PostgreSQL: the tables, and what finds passages in them."""

from __future__ import annotations

import hashlib
import shutil
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from demur import cache
from demur.errors import ReadOnlyBase
from demur.kb.postgres import tables
from demur.kb.postgres.address import Address
from demur.kb.postgres.meanings import ServedMeanings
from demur.kb.postgres.server import Server, busy
from demur.kb.postgres.truth import ServedTruth
from demur.kb.postgres.words import ServedWords, index_words
from demur.kb.store.place import Advance
from demur.kb.store.truth import Generation, Truth

_PAUSE = 0.2  # seconds between two tries to get a lock


class Database:
    """The tables of a base, and a connection to them."""

    def __init__(self, address: Address) -> None:
        self.path = address
        self.server = Server(address)
        self.words, self.meanings = ServedWords(self.server), ServedMeanings(self.server)
        self._folder: Path | None = None

    @property
    def there(self) -> bool:
        """Whether there is a base."""
        return bool(tables.version_of(self.server))

    @property
    def uploads(self) -> Path:
        """The folder on this machine where files wait that a server took, until they are in the base."""
        called = hashlib.sha256(str(self.path).encode()).hexdigest()[:16]
        return cache.folder(f"uploads-{called}")

    def open(self, stem: str | None) -> Truth:
        """What the base holds; with `stem` it is made if it is not there."""
        return ServedTruth(self.server, stem)

    def make(self) -> None:
        """Do nothing: tables are made when they are opened."""

    def unmake(self) -> None:
        """Take away the tables, if nothing was added by anybody."""
        tables.drop(self.server)
        self.server.close()

    def check_writable(self) -> None:
        """Raise an error if no change could be kept."""
        only_read, may = self.server.rows(
            "SELECT current_setting('transaction_read_only') = 'on', "
            "has_table_privilege('generations', 'INSERT')"
        )[0]
        if only_read or not may:
            fix = "let its owner grant more" if not may else "name the server that is written to"
            raise ReadOnlyBase("may not be written by this user or here", path=str(self.path), fix=fix)

    @contextmanager
    def writing(self, wait: float) -> Iterator[None]:
        """A block whose changes wait so long for those of others: each file is a change of its own."""
        self.server.wait = wait
        yield

    @contextmanager
    def embedding(self, wait: float) -> Iterator[None]:
        """A block in which no other process makes vectors; the lock ends with the connection."""
        until, key = time.monotonic() + wait, (self.server.key("embed"),)
        while not self.server.rows("SELECT pg_try_advisory_lock(?)", key)[0][0]:
            if time.monotonic() >= until:
                raise busy(self.path)
            time.sleep(_PAUSE)
        try:
            yield
            self.meanings.index()
        finally:
            self.server.rows("SELECT pg_advisory_unlock(?)", key)

    def readable(self, truth: Truth, wait: float) -> Generation:
        """The last generation: its words are indexed in the transaction that made it."""
        return truth.generation()

    def catch_up(self, truth: Truth) -> None:
        """Do nothing: words are indexed with each change."""

    def index_anew(self, truth: Truth, advance: Advance | None) -> None:
        """Index the words of all passages anew."""
        with truth.transaction() as said:
            said.execute("TRUNCATE lexemes")
            index_words(self.server, truth.stem, 0, 0)
        if advance is not None:
            advance(truth.generation().passages)

    def gate_state(self) -> object:
        """What differs as soon as the base's own gate does; false where it has none."""
        found = self.server.rows("SELECT md5(value) FROM facts WHERE name = 'gate'")
        return found[0][0] if found else ""

    def gate_file(self) -> Path:
        """A file with the base's own gate, as it is now."""
        path = self._passing() / "gate.json"
        found = self.server.rows("SELECT value FROM facts WHERE name = 'gate'")
        path.unlink(missing_ok=True)
        if found:
            path.write_text(found[0][0], "utf-8")
        return path

    def keep_gate(self, save: Callable[[Path], object]) -> None:
        """Keep the base's own gate."""
        path = self._passing() / "gate.json"
        save(path)
        self.server.execute(
            "INSERT INTO facts VALUES ('gate', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (path.read_text("utf-8"),),
        )

    def _passing(self) -> Path:
        """A folder that goes when the base is not needed any more."""
        if self._folder is None:
            self._folder = Path(mkdtemp(prefix="demur-gate-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder
