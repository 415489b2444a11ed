"""A session: library, ranker, reader and gate opened once, for as many questions as there are."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import RLock
from typing import TypeGuard, cast

from demur.asking.answering import Asked
from demur.asking.gates.base_gate import BaseGate, lapse_of
from demur.asking.gates.choosing import chosen, judging, of_base
from demur.asking.gates.gate import Gate
from demur.asking.gates.rules import Rule
from demur.asking.library import AS_FOUND, Documents, Library, second_ranker
from demur.asking.meaning.budget import milliseconds
from demur.asking.meaning.ranker import by_meaning
from demur.asking.meaning.tending import still_lacks_vectors, tend
from demur.asking.packaged import MEANING
from demur.asking.reading import looks, reader_for, reads
from demur.asking.searching import DEPTH, Search
from demur.errors import UsageError
from demur.kb.base import Passages, Searchable
from demur.kb.read import ReadBase
from demur.rankers import Ranker
from demur.types import Abstention, Answer, Ranking

_ONE_AT_A_TIME = RLock()  # models are shared by sessions, and some change while they run
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Session:
    """Answers questions about one library; the command line and `demur.ask` go through it, and answer alike.

    Threads may share it. One question is answered at a time, as a model takes all cores by itself.
    """

    search: Search
    reader: object | None = None
    """Who quotes; without one, the sentence that shares the weightiest words is quoted."""
    rule: Rule = field(default_factory=Rule)
    of_rows: Rule | None = None
    """The rule where the first passage has a question of its own, as in an FAQ, if that is another."""
    ranker: str | Path | Ranker = MEANING
    """The ranker, as it was named or chosen."""

    @classmethod
    def open(
        cls,
        documents: Documents | Passages,
        ranker: str | Path | Ranker | None = None,
        gate: str | Path | Gate | None = None,
        reader: str | Path | object | None = None,
        risk: float | None = None,
        stem: str = "english",
        budget: str | None = None,
        lapse: float | None = None,
    ) -> Session:
        """A session with all that it needs; what is missing or does not fit is an error before any question.

        The arguments are those of `demur.ask`. A gate that nobody named is left out where it promises nothing
        about this ranker or reader, and a warning says so.
        """
        named = gate is not None or risk is not None
        asked = cast(object, documents)
        base = asked if isinstance(asked, ReadBase) else None
        lapse_of(lapse, base is not None, gate)
        ours = base is not None and gate is None and (risk is None or ranker is None)
        who, judge = of_base(base, ranker, risk) if base and ours else chosen(ranker, gate, risk)
        most = lapse_of(lapse, True, judge if named else None)  # the base may have its gate later
        if budget is not None and who != MEANING:
            what = "a budget says how much is read again after finding by meaning"
            raise UsageError(f"{what}; take the ranker {MEANING}, or leave the budget out")
        if budget is not None:
            milliseconds(budget)  # or it says what a budget is, before any file is read
        if not _are_passages(documents):
            library: Passages = Library(cast(Documents, documents), stem)
        elif stem in ("english", documents.stem):
            library = documents
        else:
            what = f"these passages keep to stem={documents.stem}, not {stem}"
            raise UsageError(f"{what}; leave the language out")
        known = who if who in (*AS_FOUND, MEANING) else second_ranker(who)
        search = searching(library, known, budget)
        quoting = reader_for(reader, search.ranker)
        judged = judging(judge, search, quoting, who, most, named, gate is None, budget)
        search = replace(search, reading=quoting is not None and quoting is search.ranker)
        return cls(search, quoting, *judged, who)

    def judged_by(self, gate: Gate | None, of_rows: Gate | None = None) -> Session:
        """The same with another gate, and perhaps one of their own for rows of an FAQ."""
        return replace(self, rule=Rule(gate), of_rows=None if of_rows is None else Rule(of_rows))

    def gated_as_now(self, lapse: float) -> Session:
        """The same with the gate that its knowledge base has now; without one, as if it never had any."""
        if not isinstance(self.library, ReadBase):
            return self
        rule, of_rows = judging(
            of_base(self.library, self.ranker)[1], self.search, self.reader, self.ranker, lapse
        )
        return replace(self, rule=rule, of_rows=of_rows)

    def as_of_now(self) -> Session:
        """The same; if its gate was calibrated on a knowledge base, with what has changed there since."""
        if not isinstance(self.gate, BaseGate) or not isinstance(self.library, ReadBase):
            return self
        gate = self.gate.as_of(self.library)
        same = gate.changed == self.gate.changed
        return self if same else replace(self, rule=replace(self.rule, gate=gate))

    def rule_for(self, ranking: Ranking) -> Rule:
        """The rule that holds for these passages: rows of an FAQ may have one of their own."""
        rule = self.of_rows if self.of_rows and _is_of_a_row(ranking) else self.as_of_now().rule
        return rule.set_aside() if self.waits_for_vectors else rule

    @property
    def waits_for_vectors(self) -> bool:
        """Whether nothing is promised until more of the passages have their vectors."""
        return still_lacks_vectors(self.library, self.ranker)

    @property
    def gate(self) -> Gate | None:
        """What judges what is found, if anything does."""
        return self.rule.gate

    @property
    def gate_of_rows(self) -> Gate | None:
        """What judges in its place rows of an FAQ, if anything does."""
        return None if self.of_rows is None else self.of_rows.gate

    @property
    def library(self) -> Passages:
        """The passages that are asked."""
        return self.search.library

    def ask(self, question: str, top: int = 5) -> Answer | Abstention:
        """The best passage with a quotation, or the reason why there is no answer.

        A gate looks at the best 50 passages, as when it was calibrated, so no more than 50 are shown. Without
        a gate, a reader that finds nothing in the best passage has the last word. A knowledge base is asked
        as it is now, and the certificate of its own gate says how much has changed since it was made; but
        with a gate for these very files, as they were when the session was opened.
        """
        if not isinstance(question, str):
            raise UsageError(f"a question is a text, not {type(question).__name__}; pass a string")
        if not isinstance(top, int):
            raise UsageError(f"top={top!r} is not a whole number; ask for one passage or more")
        if top < 1:
            raise UsageError(f"top={top} shows nothing; ask for one passage or more")
        question = question.encode("utf-8", "replace").decode()  # a shell or JSON may pass half a character
        with _ONE_AT_A_TIME:
            if isinstance(self.library, ReadBase) and not self._gate_is_for_files:
                self.library.refresh()
            ranking = self.search.find(question, DEPTH if self.gate is not None else max(top, DEPTH))
            rule = self.rule_for(ranking)
            return Asked(self.search, question, ranking, rule.gate, rule.least).result(top, self.reader)

    @property
    def _gate_is_for_files(self) -> bool:
        if self.gate is None or isinstance(self.gate, BaseGate):
            return False
        return self.search.known_to(self.gate) is self.search

    def warm(self) -> None:
        """Load the models into memory, so that the first question need not wait for them."""
        if not len(self.library):
            return
        some = ["A passage to begin with."]
        with _ONE_AT_A_TIME:
            if self.search.ranker is not None:
                self.search.ranker.score("?", some)
            if reads(self.reader) and self.reader != self.search.ranker:
                looks(self.reader, "?", some)


def ask(
    question: str,
    documents: Documents | Passages,
    ranker: str | Path | Ranker | None = None,
    gate: str | Path | Gate | None = None,
    top: int = 5,
    stem: str = "english",
    reader: str | Path | object | None = None,
    risk: float | None = None,
    budget: str | None = None,
    lapse: float | None = None,
) -> Answer | Abstention:
    """The answer to a question, quoted from documents, or the reason why there is none.

    It is the answer that `demur ask` gives. A string is a text, a `Path` a file or folder. If there are
    several questions, open a `demur.asking.Session`.

    - The `ranker` scores the best 50 passages again; ``bm25`` leaves them as they were found, and ``meaning``
      finds passages by their meaning too, and ranks them by their chance of being right. If none is
      named, it is that of the gate, or ``meaning``.
    - The `gate` decides whether the best passage may be the answer: a gate, or the path of one. If none is
      named, it is that of the knowledge base, or of the ranker's folder; ``none`` leaves that out.
    - The `reader` quotes the words that answer. If none is named, the ranker does, if it is one such as
      ``mini`` that reads as well; otherwise, or with ``none``, the sentence that shares the weightiest words
      is quoted.
    - `risk` chooses the gate for that share of wrong answers, where a folder has several.
    - `stem` names the language whose word endings do not count; with ``none`` all count.
    - `budget`, such as ``300ms``, is for the ranker ``meaning``: no more passages are read again than fit.
    - `lapse` is the share of a knowledge base's passages that may change before the promise of its own gate
      is said to have lapsed; 0.2 if not said.
    """
    return Session.open(documents, ranker, gate, reader, risk, stem, budget, lapse).ask(question, top)


def _is_of_a_row(ranking: Ranking) -> bool:
    """Whether the first passage has a question of its own."""
    return bool(ranking.candidates and ranking.candidates[0].extra.get("question"))


def _are_passages(documents: object) -> TypeGuard[Passages]:
    """Whether these are passages made ready already: a library, or a knowledge base."""
    return isinstance(documents, Searchable)


def searching(library: Passages, who: str | Path | Ranker, budget: str | None = None) -> Search:
    """How passages are searched: as found by words, by meaning too, or scored again by a ranker."""
    if isinstance(library, Library) and who != MEANING:
        return library.search(str(who) if isinstance(who, Path) else who)
    if who == MEANING:
        if not isinstance(library, Library):
            tend(library)
        return by_meaning(library, budget=budget)
    return Search(library, None if who in AS_FOUND else second_ranker(who))
