"""`demur calibrate --kb` leaves a gate in the base, and `demur ask --kb` says what it is still worth."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

import demur
from asking.toys import labelled
from cli.calling import printed, run
from demur.asking.gates.labels import fits
from demur.data import formats
from demur.errors import UsageError
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from demur.serving.answering.service import Service
from demur.serving.paths import documents
from demur.types import Pool
from kb.places import Place, place
from serving.based import serving

__all__ = ["place"]  # a fixture
TOOLS = [f"kit{1000 + n}" for n in range(100)]
QUESTION = f"For how long is a {TOOLS[90]} lent?"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    labelled_base(tmp_path / "tools.kb", tmp_path)
    return tmp_path / "tools.kb"


def labelled_base(base: str | Path, tmp_path: Path) -> None:
    """Make a base of a hundred passages, with labels for eighty questions."""
    lines = "".join(f"A {name} is lent for {n + 2} days.\n\n" for n, name in enumerate(TOOLS))
    (tmp_path / "tools.md").write_text(lines, "utf-8")
    kb = KnowledgeBase(base)
    kb.add(tmp_path / "tools.md")
    for name in TOOLS[:80]:
        question = f"For how long is a {name} lent?"
        place = int(kb.by_words(question, 1)[0][0])
        assert name in kb.passage(place).text
        kb.label(question, place, 1)
    kb.close()


def grow(path: str | Path, many: int) -> None:
    kb = KnowledgeBase(path)
    kb.put(f"more{many}", [Passage(f"b{n}", f"Boat boat{5000 + n} is new.") for n in range(many)])
    kb.close()


def test_the_gate_of_a_base_is_taken_up_and_lapses(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = place("tools.kb")
    labelled_base(path, tmp_path)
    assert run(monkeypatch, "calibrate", "bm25", "--kb", str(path), "--risk", "0.2", "--json") == 0
    made = printed(capsys)["certificate"]
    assert KnowledgeBase(path).gate_state(), "without -o the gate is the base's own"
    asked = "ask", QUESTION, "--kb", str(path), "--json"
    assert run(monkeypatch, *asked) == 0
    fresh = printed(capsys)
    assert fresh["certificate"]["generation"] == 1 and fresh["certificate"]["changed_since"] == 0
    assert {**made, "data": 0}.items() <= {**fresh["certificate"], "data": 0}.items()
    grow(path, 5)
    assert run(monkeypatch, *asked) == 0
    later = printed(capsys)["certificate"]
    assert later["changed_since"] == pytest.approx(5 / 105, abs=1e-6) and not later["lapsed"]
    assert run(monkeypatch, *asked, "--lapse", "0.01") == 0
    assert printed(capsys)["certificate"]["lapsed"]
    grow(path, 60)
    assert run(monkeypatch, *asked[:-1]) == 0
    assert "The promise has lapsed: certified on generation 1" in " ".join(capsys.readouterr().out.split())
    kb = KnowledgeBase(path)
    again = kb.ask(QUESTION)
    assert again.certificate is not None and again.certificate["lapsed"]
    assert kb.ask(QUESTION, gate="none").certificate is None
    kb.close()


def test_a_gate_of_another_base_is_left_out_and_refused_by_name(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "calibrate", "bm25", "--kb", str(path), "--risk", "0.2") == 0
    other = KnowledgeBase(tmp_path / "other.kb")
    other.add(tmp_path / "tools.md")
    other.close()
    (tmp_path / "other.kb" / "gate.json").write_bytes((path / "gate.json").read_bytes())
    capsys.readouterr()
    assert run(monkeypatch, "ask", QUESTION, "--kb", str(tmp_path / "other.kb")) == 0
    said = capsys.readouterr()
    told = "no gate is set: this gate was calibrated on another knowledge base (tools.kb); calibrate one on"
    assert told in " ".join(said.err.split())
    named = "--gate", str(path / "gate.json")
    assert run(monkeypatch, "ask", QUESTION, "--kb", str(tmp_path / "other.kb"), *named) == 2
    capsys.readouterr()
    files = "--from", str(tmp_path / "tools.md")
    assert run(monkeypatch, "ask", QUESTION, *files, *named) == 2
    pools = [Pool.of(QUESTION, [f"A {TOOLS[90]} is lent for 92 days."], [1], id="1")]
    formats.write_pools(tmp_path / "more.jsonl", pools)
    checked = "calibrate", "bm25", str(tmp_path / "more.jsonl"), "--check", named[1]
    assert run(monkeypatch, *checked, *files) == 2
    asked, held = capsys.readouterr().err.splitlines()
    assert "this gate was calibrated on the knowledge base tools.kb, not on these files" in asked == held
    (path / "gate.json").write_text("{}", "utf-8")
    assert run(monkeypatch, "ask", QUESTION, "--kb", str(path), "--ranker", "bm25") == 0
    assert "no gate is set" in " ".join(capsys.readouterr().err.split())


def test_a_risk_means_the_bases_own_gate_where_it_is_for_that(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = "ask", QUESTION, "--kb", str(path), "--json"
    assert run(monkeypatch, "calibrate", "meaning", "--kb", str(path), "--risk", "0.25") == 0
    capsys.readouterr()
    assert run(monkeypatch, *ask, "--risk", "0.25") == 0
    own = capsys.readouterr()
    assert "tools.kb" in json.loads(own.out)["certificate"]["data"] and not own.err
    assert run(monkeypatch, *ask, "--risk", "0.2") == 0
    other = capsys.readouterr()
    assert "tools.kb" not in json.loads(other.out)["certificate"]["data"]
    told = (
        "the gate that comes with demur is taken, not that of this base: it is for a risk of 0.25, not of 0.2"
    )
    assert told in " ".join(other.err.split())
    (path / "gate.json").write_text("{}", "utf-8")
    assert run(monkeypatch, *ask) == 0
    damaged = capsys.readouterr()
    assert "tools.kb" not in json.loads(damaged.out)["certificate"]["data"]
    assert "taken, not that of this base: " in " ".join(damaged.err.split())


def test_labels_that_fit_do_not_count_for_the_promise(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    certify = sum(not fits(f"For how long is a {name} lent?") for name in TOOLS[:80])
    assert 50 < certify < 80
    asked = "calibrate", "bm25", "--kb", str(path)
    assert run(monkeypatch, *asked, "--risk", "0.2", "--json") == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["certificate"]["questions"] == certify
    assert f"{certify} labelled questions count for the promise, {80 - certify} more fit" in told.err
    assert run(monkeypatch, *asked, "--plan", "--json") == 0
    assert printed(capsys)["questions"] == certify


def test_the_command_line_misses_as_many_labels_as_a_server_does(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One label in five fits, so more are needed than certify."""
    monkeypatch.setattr(documents, "_WAIT", 300)  # seconds, for what the server says in the end
    with closing(KnowledgeBase(path)) as kb:
        for name in TOOLS[:8]:
            kb.settle(f"For how long is a {name} lent?", ())
    with serving(path) as client:
        levels = client.get("/v1/labels").json()["levels"]
        missing = {each["risk"]: each["more"] for each in levels if not each["promised"]}
        served = client.post("/v1/calibrate", json={"risk": 0.1}).json()["message"]
    assert {0.1, 0.05} <= missing.keys()
    asked = "calibrate", "bm25", "--kb", str(path)
    assert run(monkeypatch, *asked, "--plan", "--json") == 0
    planned = {each["risk"]: each["more"] for each in printed(capsys)["levels"]}
    assert {risk: planned[risk] for risk in missing} == missing
    assert run(monkeypatch, *asked, "--risk", "0.1", "--json") == 1
    told = printed(capsys)
    assert told["more_labels"] == missing[0.1]
    assert told["reason"] == served


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "how?", "--example"),
        ("serve",),
        ("serve", "--example", "--gate", "none"),
        ("serve", "--from", __file__),
        ("mcp", "--example"),
        ("mcp", "--from", __file__),
    ],
)
def test_a_lapse_without_a_promise_on_a_base_is_refused(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *words, "--lapse", "0.1") == 2
    said = capsys.readouterr()
    assert not said.out and len(said.err.splitlines()) == 1
    assert "a lapse is of a promise on a knowledge base" in said.err and "leave the lapse out" in said.err


def test_a_lapse_is_a_share_of_a_base_in_python_too(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "calibrate", "bm25", "--kb", str(path), "--risk", "0.2") == 0
    kb = KnowledgeBase(path)
    for none in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="is not a share of passages; use a number from 0 to 1"):
            kb.ask(QUESTION, lapse=none)
        with pytest.raises(UsageError, match="is not a share of passages"):
            Service.over(path, lapse=none)
    for share in (0, 0.5, 1):
        certificate = kb.ask(QUESTION, lapse=share).certificate
        assert certificate is not None and certificate["changed_since"] == 0 and not certificate["lapsed"]
    with pytest.raises(UsageError, match="and none is asked"):
        demur.ask(QUESTION, ["A text."], lapse=0.1)
    other = demur.calibrate(demur.ranker("bm25"), labelled("who?", ["Ada.", "Bob did."]), 0.2)
    for gate in ("none", other):
        with pytest.raises(UsageError, match="this gate makes none"):
            kb.ask(QUESTION, gate=gate, lapse=0.1)
    kb.close()


def test_a_server_goes_by_the_gate_that_ask_does_whatever_becomes_of_the_bases_own(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(monkeypatch, "calibrate", "meaning", "--kb", str(path), "--risk", "0.25") == 0
    gate = path / "gate.json"
    own = gate.read_bytes()
    running = Service.over(path)
    seen = []
    for content in (own, b"{", own, None):
        gate.unlink(missing_ok=True)
        if content is not None:
            gate.write_bytes(content)
        begun = Service.over(path)
        with closing(KnowledgeBase(path)) as kb:
            said = kb.ask(QUESTION)
        told = [said, running.ask(QUESTION), begun.ask(QUESTION)]
        assert len({(each.threshold, str(each.certificate), each.confidence) for each in told}) == 1
        assert said.certificate is not None, "something is promised in each case"
        seen.append("tools.kb" in said.certificate["data"])
        assert said.certificate["risk"] == (0.25 if seen[-1] else 0.2)
        assert (running.of_base is not None, begun.of_base is not None) == (seen[-1], seen[-1])
        begun.close()
    assert seen == [True, False, True, False]
    assert running.ask(QUESTION, risk=0.3).certificate is not None, "those that come with demur"
    running.close()
