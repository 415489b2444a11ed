"""What asks if nobody names a ranker, and the gates that come with it, for whatever files are asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import demur
from demur.asking import Session, packaged
from demur.asking.example import passages
from demur.asking.gates.gate import is_for_any_files, is_for_files, open_gate, second_ranker_of
from demur.asking.gates.rules import Rule
from demur.asking.library import Library
from demur.asking.meaning import chance
from demur.asking.meaning.ranker import ByMeaning, by_meaning
from demur.asking.packaged import MEANING, MEANING_GATES, NAME, ROW_GATES
from demur.cli.asking.shown import Shown
from demur.cli.risk.promises import elsewhere
from demur.embedders.encoders import packaged as encoder
from demur.errors import UsageError
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from demur.types import Abstention, Answer

RESULTS = Path(__file__).parents[2] / "results" / "asking"
TEXTS = ["Saws are lent for three weeks.", "Saws are sharp.", "The desk is open on Sundays."]
ROW = Passage("1", "At the desk, by card or in cash.", heading="How can I pay?", question="How can I pay?")

HERE = packaged.there() and encoder.there()  # they lie in git and in the wheel, so CI skips nothing
pytestmark = pytest.mark.skipif(not HERE, reason="the packaged models are not here")


def test_passages_are_found_by_meaning_and_a_gate_decides() -> None:
    assert packaged.usual() == MEANING
    session = Session.open(TEXTS)
    assert isinstance(session.search, ByMeaning) and session.search.read == 12
    assert session.gate is not None
    assert session.gate.certificate["risk"] == 0.2 and session.gate == Session.open(TEXTS, MEANING).gate
    assert Session.open(TEXTS, risk=0.3).gate == Session.open(Library(TEXTS[:1]), MEANING, risk=0.3).gate
    assert Session.open(TEXTS, gate="none").gate is None
    with pytest.raises(UsageError, match=r"^meaning has no gate for a risk of 0\.07"):
        Session.open(TEXTS, risk=0.07)


def test_the_gate_is_for_any_files_and_says_so() -> None:
    gate = open_gate(MEANING_GATES)
    assert is_for_files(gate) and is_for_any_files(gate) and second_ranker_of(gate) == MEANING
    (told,) = elsewhere(gate)
    assert "not of your files: `demur calibrate meaning LABELLED --from FILES` makes a promise" in told
    assert not is_for_any_files(open_gate(packaged.FOLDER))


@pytest.mark.parametrize("of_base", [False, True])
def test_an_answer_names_what_was_asked_in_the_command_that_makes_a_gate(
    of_base: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text(TEXTS[0], "utf-8")
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(tmp_path / "a.txt")
    kb.embed()
    Shown(Session.open(kb if of_base else TEXTS)).answer("How long are saws lent?")
    asked = "--kb BASE" if of_base else "--from FILES"
    assert f"LABELLED {asked}`" in " ".join(capsys.readouterr().out.split())


def test_it_holds_for_what_ranks_as_it_was_calibrated(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    assert Session.open(TEXTS, budget="60s").gate == open_gate(MEANING_GATES)
    assert not caplog.text
    session = Session.open(TEXTS, stem="none")
    assert session.gate is None and "with stem=english, not with stem=none" in caplog.text
    assert "learnt from English, so try --ranker bm25" in caplog.text
    in_faq = open_gate(ROW_GATES).threshold
    least = f"what is less likely than {session.rule.least:.2g} (in an FAQ, {in_faq:.2g}) is no answer"
    assert least in caplog.text
    refused = session.ask("Who won the chess championship?")
    assert isinstance(refused, Abstention) and "the threshold of the gate that is set aside" in refused.reason
    capsys.readouterr()
    Shown(session).answer("How long are saws lent?")
    shown = " ".join(capsys.readouterr().out.split())
    assert f"where {session.rule.least:.2g} is enough. The gate is set aside, so nothing is promised" in shown
    caplog.clear()
    assert Session.open(TEXTS, budget="0.1ms").gate is None and "the gate is set aside" in caplog.text


def test_a_gate_set_aside_leaves_each_kind_of_passage_its_own_threshold() -> None:
    session = Session.open([ROW, *TEXTS], budget="0.1ms")
    of_row, of_text = (
        session.ask(asks) for asks in ("In which ways may one pay?", "How long are saws lent?")
    )
    theirs, rows = open_gate(MEANING_GATES).threshold, open_gate(ROW_GATES).threshold
    assert theirs != rows and (session.rule, session.of_rows) == (Rule(None, theirs), Rule(None, rows))
    assert (of_text.threshold, of_row.threshold) == (theirs, rows)
    assert of_text.certificate is None and of_row.certificate is None


def test_rows_of_an_faq_have_a_gate_of_their_own() -> None:
    session = Session.open([ROW, *TEXTS])
    rows = session.gate_of_rows
    assert rows == open_gate(ROW_GATES) and rows.certificate["risk"] == 0.2
    of_row, of_text = (
        session.ask(asks) for asks in ("In which ways may one pay?", "How long are saws lent?")
    )
    assert [each.certificate == rows.certificate for each in (of_row, of_text)] == [True, False]
    assert session.rule_for(of_text.ranking).gate == session.gate == open_gate(MEANING_GATES)
    assert session.rule_for(of_row.ranking).gate == rows
    for other in (
        Session.open([ROW], gate="none"),
        Session.open([ROW], gate=MEANING_GATES),
        Session.open([ROW], ranker=NAME),
    ):
        assert other.of_rows is None
    least = {risk: Session.open([ROW], risk=risk).gate_of_rows for risk in (0.3, 0.4)}
    assert all(gate is not None and gate.certificate["risk"] == risk for risk, gate in least.items())


def test_without_the_encoder_mini_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "there", lambda: False)  # so mini ranks if nobody names a ranker
    assert packaged.usual() == NAME
    assert Session.open(TEXTS).search.ranker == demur.ranker(NAME)


def test_the_example_is_answered_and_declined() -> None:
    session = Session.open(passages())
    lost = session.ask("What should I do when I have lost my membership card?")
    assert isinstance(lost, Answer) and lost.span is not None
    assert lost.span.text == "A lost card costs 3 pounds to replace."
    assert lost.certificate is not None and lost.certificate["risk"] == 0.2
    assert lost.confidence == lost.candidate.extra["chance"] == lost.score
    assert isinstance(session.ask("How high is the deposit for the pressure washer?"), Abstention)
    nowhere = session.ask("What is the wifi password?")
    assert isinstance(nowhere, Abstention)
    assert nowhere.reason.endswith("; none of its words – wifi, password – occurs in the 66 passages")


def test_ten_more_questions_about_the_example() -> None:
    """Plainly asked; none without an answer is answered, and what is answered is right."""
    session = Session.open(passages())
    known = {
        "How long are hand tools lent for?": "three weeks",
        "What does a household ticket cost?": "54 pounds",
        "When does the desk open on Saturdays?": "nine to one",
        "How much is the deposit for the trailer?": "100 pounds",
        "How many tools may I borrow at once?": "six tools",
    }
    found = {asks: session.ask(asks) for asks in known}
    assert all(known[asks] in each.ranking.candidates[0].text for asks, each in found.items())
    assert sum(isinstance(each, Answer) for each in found.values()) >= 4
    for asks in (
        "Do you sell second-hand tools?",
        "Who founded the library?",
        "Is there a lift for wheelchairs?",
        "What is the phone number of the desk?",
        "Can I pay with bitcoin?",
    ):
        assert isinstance(session.ask(asks), Abstention)


def test_what_stands_under_the_very_question_is_the_answer() -> None:
    asks = "Is my card gone?"
    row = Passage("1", "Call us.", heading=asks, question=asks)
    found = Session.open([row, *TEXTS]).ask(asks)
    assert isinstance(found, Answer) and found.candidate.text == "Call us." and found.certificate is None


def test_weights_and_gates_are_those_whose_measures_are_told() -> None:
    weights, told = (json.loads(path.read_text("utf-8")) for path in (chance.FILE, RESULTS / "chance.json"))
    assert weights["made"] == {name: told[name] for name in weights["made"]}
    gate = json.loads((RESULTS / "gate.json").read_text("utf-8"))
    now = by_meaning(Library([])).anywhere.fingerprint
    assert gate["ranker"] == now, "run python -m tools.make_ask_gate again"
    for folder in (MEANING_GATES, ROW_GATES):
        assert all(open_gate(folder, risk).certificate.ranker_fingerprint == now for risk in (0.2, 0.3))
