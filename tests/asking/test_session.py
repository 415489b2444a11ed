"""A session: everything is opened once, what does not fit is said at once, and threads may share it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import demur
from asking.toys import SPEC, Toy, labelled
from demur import registry
from demur.asking import Library, Passage, Session, Verdict, as_plain, calibrate, packaged
from demur.asking.example import passages, pools
from demur.errors import DataError, UsageError
from demur.rankers import Ranker
from demur.risk.gates.gate import Gate
from demur.types import Abstention, Answer, FloatArray, Pool, Ranking

TEXTS = ["Saws are lent for three weeks.", "Saws are sharp."]
QUESTION = "For how long are saws lent?"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the toy in place of the packaged model."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(registry.OURS["ranker"], "mini", SPEC)
    monkeypatch.setattr(packaged, "FOLDER", tmp_path / "mini")
    (tmp_path / "mini").mkdir()
    (tmp_path / "mini/model.onnx").write_bytes(b"x")
    return tmp_path


def gate(risk: float = 0.2) -> Gate:
    """A gate for the toy, as it ranks given candidates."""
    grid = [Pool.of(QUESTION, TEXTS, id=f"g{n}") for n in range(9)]
    return demur.calibrate(Toy(), labelled(QUESTION, TEXTS), risk, grid=grid)


@dataclass(frozen=True)
class Slow(Ranker):
    """Scores by length, and knows how many questions it was asked at the same time."""

    name: ClassVar[str] = "slow"
    inside: list[int] = field(default_factory=lambda: [0, 0])

    def score(self, question: str, answers: Sequence[str]) -> FloatArray:
        """The lengths."""
        self.inside[0] += 1
        self.inside[1] = max(self.inside)
        time.sleep(0.001)
        self.inside[0] -= 1
        return np.array([len(answer) for answer in answers], np.float64)


def test_threads_share_it_and_one_question_is_answered_at_a_time() -> None:
    slow = Slow()
    sessions = [Session.open(passages(), each, "none") for each in (slow, slow, "overlap")]
    asked = [(session, pool.question) for pool in pools() for session in sessions][:60]
    alone = [session.ask(question) for session, question in asked]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda each: each[0].ask(each[1]), asked))
    assert [as_plain(each) for each in together] == [as_plain(each) for each in alone]
    assert slow.inside == [0, 1], "two sessions may share a model, so not even they ask it together"


def test_everything_is_opened_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate().save(home / "mini/gate.json")
    opened: list[str] = []
    original_gate, original_build = Gate.load.__func__, registry.build  # type: ignore[attr-defined]

    def load(path: str | Path) -> Gate:
        opened.append("gate")
        found: Gate = original_gate(Gate, path)
        return found

    def build(kind: str, *more: Any) -> Any:
        opened.append(kind)
        return original_build(kind, *more)

    monkeypatch.setattr(Gate, "load", load)
    monkeypatch.setattr(registry, "build", build)
    session = Session.open(TEXTS, "mini")
    assert sorted(opened) == ["gate", "ranker"]
    session.ask(QUESTION)
    opened.clear()
    session.warm()
    assert isinstance(session.ask(QUESTION), Answer) and isinstance(session.ask("violins?"), Abstention)
    assert opened == []


def test_it_knows_library_ranker_reader_and_gate(home: Path) -> None:
    gate().save(home / "mini/gate.json")
    session = Session.open(TEXTS, "mini")
    assert len(session.library) == 2
    assert isinstance(session.search.ranker, Toy) and session.reader is session.search.ranker
    assert session.gate is not None and session.gate.certificate["risk"] == 0.2
    plain = Session.open(Library(TEXTS), "bm25")
    assert (plain.search.ranker, plain.reader, plain.gate) == (None, None, None)


def test_a_ranker_that_is_open_is_asked_as_its_name_is(home: Path) -> None:
    gate().save(home / "mini/gate.json")
    named, opened = (Session.open(TEXTS, each) for each in ("mini", demur.ranker("mini")))
    assert named.gate is not None and named.gate == opened.gate
    assert as_plain(named.ask(QUESTION)) == as_plain(opened.ask(QUESTION))


def test_a_gate_that_nobody_named_is_left_out_where_it_promises_nothing(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gate().save(home / "mini/gate.json")
    (home / "elsewhere").mkdir()
    gate().save(home / "elsewhere/gate.json")
    other = "mini(folder=elsewhere)"
    assert Session.open(TEXTS, other).gate is None
    assert caplog.messages[-1].startswith("no gate is set: this gate was calibrated for the ranker mini")
    assert caplog.messages[-1].endswith("use that ranker, or calibrate a gate for this one")
    for named in ({"gate": "elsewhere"}, {"risk": 0.2}, {"gate": gate()}):
        with pytest.raises(UsageError, match="this gate was calibrated for the ranker mini"):
            Session.open(TEXTS, other, **named)


def test_a_gate_says_which_ranker_is_meant(home: Path) -> None:
    assert isinstance(Session.open(TEXTS, gate=gate()).search.ranker, Toy)
    library = Library([*TEXTS, "Ladders."])
    for ranker in (None, "overlap"):
        made = calibrate(library, labelled(QUESTION, TEXTS), 0.2, ranker=ranker)
        second = Session.open(library, gate=made).search.ranker
        assert (None if second is None else second.name) == ranker


@dataclass(frozen=True)
class OfMyOwn:
    """A gate that somebody has written."""

    certificate: dict[str, Any] = field(default_factory=lambda: {"risk": 0.1})

    def check_ranker(self, ranker: Ranker) -> None:
        """Any will do."""

    def judge(self, ranking: Ranking) -> Verdict:
        """It lets all pass."""
        return Verdict(0.5)


def test_a_risk_must_be_that_of_the_gate(home: Path) -> None:
    assert Session.open(TEXTS, gate=OfMyOwn(), risk=0.1).ask(QUESTION).confidence == 0.5
    with pytest.raises(UsageError, match=r"the gate promises a risk of 0\.1, not of 0\.2; leave"):
        Session.open(TEXTS, gate=OfMyOwn(), risk=0.2)
    with pytest.raises(UsageError, match="a risk of 20 is not a share of wrong answers"):
        Session.open(TEXTS, risk=20)


@pytest.mark.parametrize(
    "wrong", [{"gate": "nowhere.json"}, {"ranker": "./nowhere"}, {"ranker": "bm25", "risk": 0.1}]
)
def test_what_is_wrong_is_said_before_a_file_is_read(wrong: dict[str, Any]) -> None:
    read: list[Passage] = []

    def documents() -> Iterator[Passage]:
        read.append(Passage("", ""))
        yield from read

    with pytest.raises((UsageError, DataError), match=r"nowhere|there is none"):
        Session.open(documents(), **wrong)
    assert not read


def test_half_a_character_is_a_question_too() -> None:
    result = Session.open(TEXTS, "bm25").ask("saws \ud83d?")
    assert isinstance(result, Answer) and result.question == "saws ??"


def test_an_empty_library_is_warm() -> None:
    Session.open([], "length").warm()
    Session.open([Passage("1", "Saws.")], "length").warm()
