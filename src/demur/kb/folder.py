"""A knowledge base that lasts, wherever it is kept: the truth, and what is derived of it to find passages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.errors import DataError, LostBase, UsageError
from demur.kb import syncing
from demur.kb.index.embedding import embed
from demur.kb.passages import Passage
from demur.kb.read import ReadBase
from demur.kb.sources import removing
from demur.kb.sources.reports import FileReport
from demur.kb.sources.texts import put_text
from demur.kb.store import asked, labels
from demur.kb.store.changing import KEPT, purge
from demur.kb.store.labels import Label
from demur.kb.store.truth import Truth
from demur.paths import is_gone

if TYPE_CHECKING:
    from demur.kb.index.embedding import Embeds
    from demur.types import Abstention, Answer

_OFTEN = 100_000  # passages added, after which they are made findable before the rest is read
_TRIES = 3  # to make a base that another process takes away again, as nothing went in
Advance = Callable[[int], None]


class KnowledgeBase(ReadBase):
    """Passages of files and folders, kept to be found by words and by meaning.

    They are kept in a folder, or where `path` is an address in PostgreSQL, such as
    ``postgresql://user@host/database``, or on an object store, ``s3://bucket/folder``. Nothing is written
    before the first change, which makes the base. What other processes change is seen after `refresh`; until
    then all answers are of one generation. `stem` names the language whose word endings do not count, english
    if not said; a base keeps to it. `wait` is how many seconds to wait for another process that writes.
    """

    def ask(self, question: str, top: int = 5, **settings: Any) -> Answer | Abstention:
        """The answer from these passages as they are now; the settings are those of `demur.ask`."""
        import demur

        self.refresh()
        return demur.ask(question, self, top=top, **settings)

    def add(
        self, paths: str | Path | Iterable[str | Path], advance: Advance | None = None
    ) -> list[FileReport]:
        """What became of each file: only those that are new or have changed are read."""
        return list(self.adding(paths, advance))

    def adding(
        self, paths: str | Path | Iterable[str | Path], advance: Advance | None = None
    ) -> Iterator[FileReport]:
        """What became of each file, as it goes in; when the last is told, all can be found by words.

        A base that was not there is not made if nothing goes in.
        """
        many, new = _paths(paths), not self.there
        if new and many and all(map(is_gone, many)):
            for each in many:  # nothing is made of what was mistyped
                why = DataError("no such file", path=each, fix="check the spelling of the path")
                yield FileReport(str(each), "skipped", reason=str(why))
            return
        with self._writing(make=True) as truth:
            try:
                yield from self._findable(truth, syncing.added(truth, many, advance))
            finally:
                if new and not truth.generation().number:
                    truth.check()  # what lies there now may be another's
                    self.close()
                    self._store.unmake()

    @property
    def there(self) -> bool:
        """Whether there is such a base: the first `add` or `put` makes it."""
        return self._store.there

    def updating(self, advance: Advance | None = None) -> Iterator[FileReport]:
        """What became of each file, as the base is brought up to date with its files and folders."""
        with self._writing() as truth:
            yield from self._findable(truth, syncing.updated(truth, advance))

    def update(self, advance: Advance | None = None) -> list[FileReport]:
        """What became of each file: the base is up to date with its files and folders."""
        return list(self.updating(advance))

    def put(self, name: str, passages: Iterable[Passage], kind: str = "text") -> FileReport:
        """What became of passages with a name of their own, in place of any that had it before."""
        return self.put_all([(name, passages, kind)]).pop()

    def put_all(self, texts: Iterable[tuple[str, Iterable[Passage], str]]) -> list[FileReport]:
        """The same for several, by name, passages and kind; they are made findable together."""
        with self._writing(make=True) as truth:
            return list(self._findable(truth, (put_text(truth, *each) for each in texts)))

    def remove(self, sources: str | Path | Iterable[str | Path]) -> list[FileReport]:
        """What was taken out: files by their paths or names, or all in a folder, in one change."""
        return self._remove(sources, by_name=False)

    def remove_named(self, sources: str | Iterable[str]) -> list[FileReport]:
        """The same by names alone, wherever a file of that path lies here."""
        return self._remove(sources, by_name=True)

    def _remove(self, sources: str | Path | Iterable[str | Path], by_name: bool) -> list[FileReport]:
        with self._writing() as truth:
            many = _paths(sources)  # asked for once nobody else writes
            with truth.turn():
                meant = removing.meant(truth, many, by_name)
                found = list(meant.sources.items())
                again = removing.followed(truth, found, meant.folders)
                removing.remove_sources(truth, found, meant.folders)
            reports = [FileReport(name, "removed", 0, "no file of it was there") for name in meant.empty]
            for id, name in found:
                reports.append(FileReport(name, "removed", 0, removing.AGAIN if id in again else ""))
            return list(self._findable(truth, iter(reports)))

    def rebuild(self, advance: Advance | None = None) -> None:
        """Make the index of words anew; the next `embed` makes the vectors anew."""
        with self._writing() as truth:
            now = truth.generation()
            self._store.index_anew(truth, advance)
            purge(truth, now.number, 0)
            with self._store.embedding(self.wait):
                self._store.meanings.remove()
        self.refresh()

    def embed(self, embedder: Embeds | None = None, advance: Advance | None = None) -> int:
        """How many passages got vectors; may be broken off at any time, and goes on where it was.

        They are made by the encoder that comes with demur, as `ask` finds by its vectors only, or by another.
        """
        from demur.embedders.encoders.encoder import Encoder
        from demur.embedders.encoders.loading import PACKAGED

        self._now()
        self.check_writable()
        with self._store.embedding(self.wait):
            count = embed(self._truth(), self._store.meanings, embedder or Encoder(PACKAGED), advance)
        self.refresh()
        return count

    @property
    def indexed(self) -> bool:
        """Whether the vectors have the index by which they are found fast; `embed` makes it."""
        self._now()
        self._store.meanings.open(self._truth())
        return self._store.meanings.indexed

    @property
    def embedder(self) -> str:
        """The fingerprint of what made the vectors; nothing where there are none."""
        self._now()
        return self._store.meanings.open(self._truth())

    def sources(self) -> list[tuple[str, str, int]]:
        """Name, kind and number of passages of each source."""
        return self._truth().sources(self._now())

    def label(self, question: str, place: int | None, label: int) -> None:
        """Keep the label that a passage answers (1) or not (0), or that none does (None, 0)."""
        labels.add(self._truth(), question, place, label, self._now())

    def settle(self, question: str, right: Iterable[int], wrong: Iterable[int] = ()) -> None:
        """Keep these labels of a question in place of earlier ones."""
        labels.settle(self._truth(), question, right, wrong, self._now())

    def forget(self, question: str) -> bool:
        """Whether there were labels of this question; there are none any more."""
        return labels.forget(self._truth(), question)

    def keep_questions(self, questions: Iterable[str], logged: bool = False) -> int:
        """How many of these questions are new; they are kept, to be labelled.

        It is an error if there are too many. Those that are `logged`, as by a server, give way to others.
        """
        return asked.add(self._truth(), questions, logged)

    def questions(self) -> list[str]:
        """The questions that are kept to be labelled, the oldest first."""
        return asked.every(self._truth())

    def labels(self) -> list[Label]:
        """All labels, in the order in which they were given."""
        return labels.every(self._truth())

    def _findable(self, truth: Truth, reports: Iterator[FileReport]) -> Iterator[FileReport]:
        """The reports; now and then, and at the end, what they tell of can be found."""
        new = 0
        try:
            for report in reports:
                if report.status in ("added", "changed"):
                    new += report.passages
                if new >= _OFTEN:
                    self._store.catch_up(truth)
                    new = 0
                yield report
        except BaseException:
            with suppress(DataError):  # what went wrong first is told
                self._index(truth)
            raise
        self._index(truth)

    def _index(self, truth: Truth) -> None:
        """Make findable what there is by now, and read that."""
        truth.check()
        self._store.catch_up(truth)
        purge(truth, truth.generation().number, KEPT)
        self.refresh()

    @contextmanager
    def _writing(self, make: bool = False) -> Iterator[Truth]:
        """A block in which the base is written."""
        with ExitStack() as turn:
            for tries_left in range(_TRIES if make else 0, -1, -1):
                try:
                    truth = self._in_turn(turn, make)
                    break
                except LostBase:  # whoever began it, took it away again
                    if not tries_left or (self._opened is not None and self._opened.generation().number):
                        raise
                    turn.close()
                    self.close()
            yield truth

    def _in_turn(self, turn: ExitStack, make: bool) -> Truth:
        """What the base holds, once it is our turn to write."""
        if self._opened is not None:
            self._opened.check()
        elif make:
            self._store.make()
        elif not self._store.there:
            self._truth()  # says that there is none
        turn.enter_context(self._store.writing(self.wait))
        if self._opened is None:
            self._opened = self._open(self._stem or "english")
        self._opened.check()  # who had the turn before may have taken it away
        return self._opened


def _paths(paths: str | Path | Iterable[str | Path]) -> list[str | Path]:
    """The paths, or an error that says what else was given."""
    if not isinstance(paths, str | Path | Iterable):
        raise UsageError(f"{type(paths).__name__} is not a path; pass a string, a Path or a list of them")
    many = [paths] if isinstance(paths, str | Path) else list(paths)
    for each in many:
        if not isinstance(each, str | Path):
            raise UsageError(f"{type(each).__name__} is not a path; pass strings and Paths")
        if "\0" in str(each):
            raise UsageError("the name of a file has a null character; leave it out")
        if each == "":
            raise UsageError("the name of a file is empty; name a file or folder, or . for this folder")
    return many
