"""What `demur ask` asks with: the library, the ranker, the reader and the gate, opened once."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.cli.console import emit, note, stdout
from demur.cli.libraries import again

if TYPE_CHECKING:
    from demur.asking import Library
    from demur.rankers import Ranker
    from demur.risk.gate import Gate


def chosen(ranker: str | None, gate: str | None, risk: float | None = None) -> tuple[str | None, Gate | None]:
    """The ranker that scores again what is found, if any, and the gate: as named, or those of demur's own."""
    from demur.asking import packaged
    from demur.cli.gating import gate_for, of_files, ranker_of, second_ranker_of

    if ranker is None and gate in (None, "none"):
        ranker = packaged.NAME if packaged.there() else "bm25"
    opened = gate_for(gate, ranker, files=True, risk=risk)
    if ranker is None and opened is not None:
        return (second_ranker_of if of_files(opened) else ranker_of)(opened, gate), opened
    return again(ranker), opened


def hint(ranker: str | None, gate: str | None) -> None:
    """Say that mini would have answered, if it were there."""
    from demur.asking import packaged

    if ranker is None and gate in (None, "none") and not packaged.there():
        note(f"the model {packaged.NAME} did not come with this copy of demur: BM25 answers alone")


@dataclass(frozen=True)
class Asker:
    """Answers questions, with everything open; ways to show an answer among its settings."""

    library: Library
    ranker: Ranker | None
    reader: object | None
    gate: Gate | None
    top: int = 5
    explain: bool = False

    @classmethod
    def of(
        cls,
        library: Library,
        ranker: str | None,
        reader: str | None,
        gate: Gate | None,
        top: int,
        explain: bool,
        named: bool = True,
    ) -> Asker:
        """One that is ready: what is missing or does not fit is said before any question is read.

        A gate that nobody `named` is left out, and that is said, where it promises nothing about the reader.
        """
        from demur.asking.reading import NONE, check_quotes, reader_for
        from demur.errors import UsageError

        search = library.search(ranker)
        quoting = reader_for(reader, search.ranker)
        if gate is not None:
            gate.check_ranker(search.known_to(gate))
            try:
                check_quotes(gate, quoting)
            except UsageError as error:
                if named:
                    raise
                note(f"no gate is set: {str(error).rpartition(';')[0]}")
                gate = None
        return cls(library, search.ranker, quoting or NONE, gate, top, explain)

    def answer(self, question: str, json: bool, indent: int | None = 2) -> None:
        """Print the answer to a question, or why there is none."""
        from demur.asking import as_plain
        from demur.cli.answers import show

        question = question.encode("utf-8", "replace").decode()  # what a shell passes may not be UTF-8
        result = self.library.ask(question, self.ranker, self.gate, self.top, self.reader)
        if json:
            emit(as_plain(result), indent)
        else:
            show(result, stdout(), self.library.stem, self.gate, self.explain)
        sys.stdout.flush()

    def warm(self) -> None:
        """Nothing, once the models are in memory: so the first question need not wait for them."""
        from demur.asking.reading import looks, reads

        if not len(self.library):
            return
        some = [self.library.passages[0].searched]
        if self.ranker is not None:
            self.ranker.score("?", some)
        if reads(self.reader) and self.reader != self.ranker:
            looks(self.reader, "?", some)
