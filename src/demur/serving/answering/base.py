"""A knowledge base behind the service: asked as it is now, whoever changes it, and by which gate."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, TypeVar

from demur.asking import Session
from demur.asking.gates.base_gate import LAPSE, BaseGate, lapse_of, made_on
from demur.asking.meaning import finding
from demur.asking.meaning.ranker import ByMeaning
from demur.kb.folder import KnowledgeBase
from demur.risk.gates.gate import Gate as SavedGate
from demur.types import Abstention, Answer, Ranking

if TYPE_CHECKING:
    from demur.kb.store.place import Elsewhere

T = TypeVar("T")
_log = logging.getLogger("demur.serving")


class Base:
    """One base, opened three times: to be asked, to be looked at, and to be written.

    So a question never waits for a file that is being read, and sees a change once it is whole.
    """

    def __init__(
        self,
        path: Path | Elsewhere,
        session: Session,
        own_gate: bool,
        seen: object = None,
        lapse: float = LAPSE,
    ) -> None:
        self.path, self.lapse = path, lapse
        self._session, self._own_gate = session, own_gate
        self._seen = seen
        self.waits_for_vectors = session.waits_for_vectors
        """Whether, when it was last looked at, nothing was promised until more passages have vectors."""
        self._asking, self._looking, self._writing = RLock(), Lock(), Lock()
        self._look, self._write = KnowledgeBase(path), KnowledgeBase(path)

    @classmethod
    def open(
        cls,
        path: str | Path | Elsewhere,
        ranker: str | None = None,
        gate: str | None = None,
        reader: str | None = None,
        risk: float | None = None,
        lapse: float | None = None,
        tended: bool = False,
    ) -> Base:
        """The base at a place; its own gate counts if no other is named."""
        asked = KnowledgeBase(path)
        asked.tended = tended
        asked.refresh()
        own = gate is None and risk is None
        seen = asked.gate_state()
        session = Session.open(asked, ranker, gate, reader, risk, lapse=lapse)
        return cls(asked.path, session, own, seen, lapse_of(lapse, True))

    @property
    def library(self) -> KnowledgeBase:
        """What the session asks."""
        found = self._session.library
        assert isinstance(found, KnowledgeBase)
        return found

    @property
    def session(self) -> Session:
        """The session with the gate that is in force now."""
        return self._session

    def ask(self, question: str, top: int = 5, session: Session | None = None) -> Answer | Abstention:
        """The answer of the base as it is now, by the gate in force or that of another session over it."""
        with self._asking:
            return (session or self.current()).ask(question, top)

    def find(self, question: str) -> tuple[str, Ranking]:
        """What is found for a question before any gate, and the hash of all that decides it."""
        with self._asking:
            self.library.refresh()
            search = self._session.search
            return search.fingerprint, search.find(question)

    def current(self) -> Session:
        """The session, once it sees the last generation and the gate that the base has now."""
        with self._asking:
            self.library.refresh()
            self._take_up_gate()
            self._session = self._session.as_of_now()
            self.waits_for_vectors = self._session.waits_for_vectors
            return self._session

    def follow(self) -> None:
        """See the last generation and gate, for figures; whoever is asking just now has seen them already."""
        if self._asking.acquire(blocking=False):
            try:
                self.current()
            finally:
                self._asking.release()

    def data(self) -> str:
        """What a certificate made now says of its data."""
        with self._asking:
            return made_on(self._session.search)

    @property
    def qualifier(self) -> str:
        """What says how sure an answer is, if a gate is calibrated here."""
        search = self._session.search
        if isinstance(search, ByMeaning):
            return "top"  # a chance already
        return "mini" if search.ranker is not None and search.ranker.spec.startswith("mini(") else "margin"

    @property
    def search(self) -> Any:
        """What finds passages here, as a ranker."""
        return self._session.search

    @property
    def uploads(self) -> Path:
        """The folder where files wait until they are in the base."""
        return self.library.uploads

    def looked(self, work: Callable[[KnowledgeBase], T]) -> T:
        """What is seen of the base as it is now, or one small change of labels."""
        with self._looking:
            self._look.refresh()
            return work(self._look)

    def written(self, work: Callable[[KnowledgeBase], T]) -> T:
        """What a change comes to; one at a time."""
        with self._writing:
            self._write.refresh()
            return work(self._write)

    def keep(self, gate: SavedGate) -> None:
        """Keep a gate as that of the base."""
        self.looked(lambda kb: kb.keep_gate(gate.save))

    def embedded(self, kb: KnowledgeBase) -> int:
        """How many passages are found by meaning."""
        return kb.embedded if kb.embedder == finding.maker().fingerprint else 0

    def facts(self) -> dict[str, Any]:
        """The generation, and how much there is."""

        def seen(kb: KnowledgeBase) -> dict[str, Any]:
            return {
                "generation": kb.generation,
                "sources": len(kb.sources()),
                "passages": len(kb),
                "embedded": self.embedded(kb),
            }

        return self.looked(seen)

    def close(self) -> None:
        """Close all files."""
        for each in (self._look, self._write, self.library):
            each.close()

    def _take_up_gate(self) -> None:
        """Use the gate of the base, if there is one, and if it is another than before."""
        if not self._own_gate:
            return
        seen = self.library.gate_state()
        if seen == self._seen:
            return
        self._seen = seen
        self._session = self._session.gated_as_now(self.lapse)
        if isinstance(self._session.gate, BaseGate):
            _log.info("the gate of the base is in force")
