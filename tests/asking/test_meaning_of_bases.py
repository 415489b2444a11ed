"""A knowledge base and the same passages in memory, asked by meaning, give the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from demur.asking import Library, Session, example, library
from demur.asking.meaning import finding, tending
from demur.asking.meaning.finding import maker
from demur.asking.meaning.ranker import LEAST
from demur.embedders.base import Vectors
from demur.errors import ReadOnlyBase, UsageError
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from demur.types import Answer

ASKED = "Until when may I return a book?", "When is the shop open?"
FAQ = [
    Passage("q1", "Bring it back within two weeks.", heading=ASKED[0], question=ASKED[0]),
    Passage("q2", "On Sundays from ten to noon.", heading=ASKED[1], question=ASKED[1]),
]


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    made = KnowledgeBase(tmp_path / "faq.kb")
    made.put("handbook", [*FAQ, *example.passages()])
    made.embed()
    assert made.embedder == maker().fingerprint
    return made


def test_they_say_the_same(base: KnowledgeBase) -> None:
    there, here = (Session.open(each, "meaning") for each in (base, Library([*FAQ, *example.passages()])))
    for question in ("When do I have to give the book back?", "What if my membership card is gone?"):
        kept, read = there.ask(question), here.ask(question)
        assert type(kept) is type(read)
        first, same = (each.ranking.candidates[0] for each in (kept, read))
        assert (first.id, first.text) == (same.id, same.text)
        assert first.extra["chance"] == pytest.approx(
            same.extra["chance"], abs=0.02
        )  # vectors are kept in bytes
    assert isinstance(there.ask("Until when may I return a book?"), Answer)


def test_vectors_that_are_kept_are_not_made_again(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(texts: list[str]) -> None:
        raise AssertionError(f"{len(texts)} texts are embedded again")

    monkeypatch.setattr(finding, "vectors", never)
    found = finding.find(base, "When is the shop open on Sunday?", 5)
    assert base.passage(int(found.places[0])).id == "q2" and found.own[0]
    text, own = found.signals[0, 2], found.signals[0, 1]
    assert own >= text > 0.8


def test_other_vectors_are_left_alone(tmp_path: Path) -> None:
    class Other:
        fingerprint = "other"

        def embed(self, texts: Sequence[str]) -> Vectors:
            return np.ones((len(texts), 8), np.float32)

    made = KnowledgeBase(tmp_path / "faq.kb")
    made.put("faq", FAQ)
    made.embed(Other())
    found = finding.find(made, "When is the shop open?", 5)  # found by its words, its vector made for this
    assert made.passage(int(found.places[0])).id == "q2" and found.signals[0, 1] > 0.9


def test_who_asks_has_a_few_missing_vectors_made(tmp_path: Path) -> None:
    made = KnowledgeBase(tmp_path / "new.kb")
    made.put("faq", FAQ)
    assert made.embedded == 0
    session = Session.open(made)
    assert made.embedded == 2 and session.gate is not None


def test_where_vectors_are_missing_no_gate_promises_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tending, "MOST", 1)
    made = KnowledgeBase(tmp_path / "new.kb")
    made.put("faq", FAQ)
    session = Session.open(made)
    assert made.embedded == 0 and session.gate is None and session.rule.least > LEAST
    assert "the gate is set aside: a gate holds where passages have vectors, which 2 of 2 lack" in caplog.text
    with pytest.raises(UsageError, match="to make them: demur kb update"):
        Session.open(made, risk=0.2)
    made.tended = True  # by a server, which makes them meanwhile
    session = Session.open(made)
    assert session.gate is not None and session.ask("How long may I keep a book?").certificate is None
    made.embed(maker())
    assert session.ask("How long may I keep a book?").certificate is not None


def test_nor_for_more_files_than_vectors_are_made_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(library, "MOST", 1)
    unseen = ["Only this test asks for the kiln.", "Only this test asks for the loom."]  # vectors are kept
    assert Session.open(Library(unseen)).gate is None
    assert "keep them in a knowledge base" in caplog.text


def test_a_base_that_may_not_be_written_to_is_asked_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(self: KnowledgeBase) -> None:
        raise ReadOnlyBase("may not be written to", path=tmp_path, fix="change its rights")

    made = KnowledgeBase(tmp_path / "new.kb")
    made.put("faq", FAQ)
    monkeypatch.setattr(KnowledgeBase, "check_writable", refused)
    answer = Session.open(made).ask(ASKED[0])
    assert isinstance(answer, Answer) and "2 of 2 passages are found by words alone" in caplog.text
