"""What a server asks: given texts, and the documents of one session, opened once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from demur.asking import Library, Session
from demur.asking.gates.base_gate import BaseGate
from demur.asking.gates.gate import gate_of_rows, is_for_files
from demur.asking.library import Documents
from demur.asking.meaning.ranker import ByMeaning
from demur.asking.packaged import MEANING
from demur.errors import UsageError
from demur.risk.gates.gate import Gate as SavedGate
from demur.risk.gates.several import open_gates as gates
from demur.serving.answering.base import Base
from demur.serving.answering.given import Given
from demur.types import Abstention, Answer

if TYPE_CHECKING:
    from demur.kb.store.place import Elsewhere

_SAMPLE = "demur is ready?"


class NotHere(UsageError, LookupError):
    """Documents, or a gate, that this server has not."""


@dataclass
class Service:
    """Given texts are ranked by one part, documents are asked through the other, if there are any."""

    given: Given
    session: Session | None = None
    name: str | None = None
    """What the documents are called."""
    sessions: dict[float, Session] = field(default_factory=dict)
    """The session for each risk that a gate here promises."""
    base: Base | None = None
    """The knowledge base that is asked, if the documents are one."""
    passing: TemporaryDirectory[str] | None = None
    """A folder that goes with the service."""
    unnamed: bool = True
    """Whether nobody named a gate."""

    @classmethod
    def over(
        cls,
        path: str | Path | Elsewhere,
        name: str | None = None,
        ranker: str | None = None,
        gate: str | None = None,
        reader: str | None = None,
        risk: float | None = None,
        lapse: float | None = None,
        tended: bool = False,
    ) -> Service:
        """A service over a knowledge base, which is asked as it is now.

        A base is `tended` if the server makes the vectors that are missing.
        """
        given = Given.open(ranker, gate, reader)
        base = Base.open(path, ranker, gate, reader, risk, lapse, tended)
        service = cls(given, base.current(), name or base.path.name, base=base, unnamed=gate is None)
        service._find_risks()
        service.warm()
        return service

    @classmethod
    def open(
        cls,
        documents: Callable[[], Documents | Library] | None = None,
        name: str | None = None,
        ranker: str | None = None,
        gate: str | None = None,
        reader: str | None = None,
        risk: float | None = None,
        stem: str = "english",
    ) -> Service:
        """A service with models and documents in memory; what does not fit is an error."""
        if ranker == MEANING and documents is None:
            what = f"the ranker {MEANING} finds passages, and there are no documents to find them in"
            raise UsageError(f"{what}; name files with --from, or a knowledge base with --kb")
        given = Given.open(ranker, gate, reader, None if documents is not None else risk)
        session = None
        if documents is not None:
            session = Session.open(documents(), ranker, gate, reader, risk, stem)
        service = cls(given, session, name, unnamed=gate is None)
        service._find_risks()
        service.warm()
        return service

    def ask(
        self, question: str, top: int = 5, risk: float | None = None, kb: str | None = None
    ) -> Answer | Abstention:
        """The answer of the documents, or why there is none; by the gate for a risk, if one is named."""
        session = self._session_for(risk, kb)
        if self.base is not None:
            return self.base.ask(question, top, None if session is self.session else session)
        return session.ask(question, top)

    def asked(self, kb: str | None = None) -> Session:
        """The session over the documents; an error if there are none, or none that are called so."""
        return self._session_for(None, kb)

    @property
    def gate(self) -> SavedGate | None:
        """The gate whose promise is told: that of the documents, or that for given texts."""
        gate = self._judge
        gate = gate.gate if isinstance(gate, BaseGate) else gate
        return gate if isinstance(gate, SavedGate) else None

    @property
    def of_base(self) -> BaseGate | None:
        """The gate that was calibrated on the base, if that is in force."""
        gate = self._judge
        return gate if isinstance(gate, BaseGate) else None

    @property
    def ranker(self) -> str | None:
        """What ranks the documents."""
        if self.session is None:
            return None
        search = self.session.search
        if isinstance(search, ByMeaning):
            return MEANING
        return "bm25" if search.ranker is None else search.ranker.spec

    @property
    def promise(self) -> str | None:
        """What is promised of the answers now, in plain words."""
        return None if self.waits_for_vectors else self._promise

    @property
    def waits_for_vectors(self) -> bool:
        """Whether nothing is promised until more of the passages have their vectors."""
        return self.base is not None and self.base.waits_for_vectors

    @property
    def of_rows(self) -> SavedGate | None:
        """The gate that judges in place of the other where a passage has a question of its own, if any."""
        session = self.session if self.base is None else self.base.session
        found = None if session is None else session.gate_of_rows
        return found if isinstance(found, SavedGate) else None

    def promise_of(self, result: Answer | Abstention) -> str | None:
        """What is promised of this one, in plain words."""
        if result.certificate is None:
            return None
        rows = self.of_rows
        return rows.promise if rows and result.certificate == rows.certificate else self._promise

    @property
    def _promise(self) -> str | None:
        judge = self.of_base or self.gate
        return None if judge is None else judge.promise

    @property
    def _judge(self) -> object | None:
        if self.base is not None:
            return self.base.session.gate
        return self.session.gate if self.session is not None else self.given.gate

    def warm(self) -> None:
        """Load the models into memory."""
        self.given.warm()
        if self.session is not None:
            self.session.warm()
            self.ask(_SAMPLE)

    def close(self) -> None:
        """Close the files of the base."""
        if self.base is not None:
            self.base.close()
        if self.passing is not None:
            self.passing.cleanup()

    def _session_for(self, risk: float | None, kb: str | None) -> Session:
        if self.session is None:
            raise NotHere("this server has no documents; start it with --kb BASE, --from FILE or --example")
        if kb is not None and kb != self.name:
            raise NotHere(f"the documents here are called {self.name!r}; leave out kb, or set it to that")
        if self.base is not None:
            self.session = self.base.current()
            if not self.sessions:  # its own gate may be gone, and those that come with demur in force
                self._find_risks()
        if self.base is not None and (risk is None or not self.sessions or self.of_base is not None):
            mine = self.gate
            if risk is None or (mine is not None and abs(mine.certificate.risk - risk) < 1e-9):
                return self.session
            if mine is not None:
                what = f"no gate here promises a risk of {risk:g}"
                raise NotHere(f"{what}; the one in force promises {mine.certificate.risk:g}")
        if risk is None:
            return self.session
        for known, session in self.sessions.items():
            if abs(known - risk) < 1e-9:
                return session
        known_risks = ", ".join(f"{each:g}" for each in sorted(self.sessions)) or "none"
        raise NotHere(f"no gate here promises a risk of {risk:g}; there are gates for: {known_risks}")

    def _find_risks(self) -> None:
        """Note the gates that lie beside the one in use and are for the same ranker.

        A gate that nobody named leaves rows of an FAQ to another of its risk, if there is one.
        """
        if self.session is None or not isinstance(self.session.gate, SavedGate):
            return  # that of a base comes and goes, and is looked up when it is asked for
        mine = self.session.gate
        self.sessions[mine.certificate.risk] = self.session
        if mine.place is None or not (mine.place / "gate.json").is_file():
            return
        for gate in gates(Path(mine.place)).gates:
            alike = gate.certificate.ranker_fingerprint == mine.certificate.ranker_fingerprint
            if alike and is_for_files(gate) == is_for_files(mine):
                rows = gate_of_rows(gate) if self.unnamed else None
                self.sessions.setdefault(gate.certificate.risk, self.session.judged_by(gate, rows))
