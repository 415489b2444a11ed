"""A threshold from an FAQ without labels: entries are removed, and what is answered then is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from asking.faq import ROWS, STRANGE, rows
from demur.asking import Library, Passage, Session, calibrate, packaged
from demur.asking.gates.labels import fresh
from demur.asking.gates.withheld import Withheld, entries, withheld
from demur.asking.gates.without import Without
from demur.errors import NoThreshold, UsageError
from demur.kb.folder import KnowledgeBase
from demur.risk import Gate
from demur.risk.gates.checking import check
from demur.types import Abstention, Answer, Candidate, Pool


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(rows())


@pytest.fixture(scope="module")
def found(library: Library) -> Withheld:
    return withheld(library, share=0.5)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four entries are left out one at a time, where it is not those that a test is about."""
    monkeypatch.setattr("demur.asking.gates.withheld.MOST", 4)


def entry(number: int, question: str, answer: str = "") -> tuple[int, Passage]:
    return number, Passage(str(number), answer or f"Answer {number}.", question=question)


def test_what_is_one_entry() -> None:
    long = "You may keep it for one week and then again for another."
    made = entries([
        entry(0, "How long?"),
        entry(1, "how LONG"),  # the second half of its answer, say
        entry(2, "For what time?", long),
        entry(3, "Until when?", long),
        entry(4, "May I?", "Yes."),
        entry(5, "Must I?", "Yes."),
        (6, Passage("6", "No question of its own.")),
    ])  # fmt: skip
    assert [each.places for each in made] == [(2, 3), (0, 1), (4,), (5,)]
    assert made[0].questions == ("For what time?", "Until when?")


def test_wordings_vary_and_stay_the_same_for_a_seed() -> None:
    (one,) = entries([entry(0, "How long may I keep the large drill?")])
    said = one.wordings(0)
    assert said[0] == "How long may I keep the large drill?" and said[-1].split() == [
        "long",
        "keep",
        "large",
        "drill",
    ]
    assert len(said) == 3 and said == one.wordings(0)
    assert said != one.wordings(1)


def test_some_passages_are_not_found(library: Library) -> None:
    assert library.by_words("drill", 3)[0].tolist() == [0]
    hidden = Without(library, (0,))
    assert hidden.by_words("drill", 3)[0].tolist() == [] and len(hidden) == len(library) - 1
    assert hidden.by_words("keep the card", 1)[0].tolist() == library.by_words("the card", 1)[0].tolist()


def test_the_gate_is_for_the_whole_files_and_answers_what_is_there(
    library: Library, found: Withheld, tmp_path: Path
) -> None:
    gate = found.gate(0.25)
    gate.save(tmp_path / "gate.json")
    kept = Gate.load(tmp_path / "gate.json")
    assert kept == gate and kept.certificate.about == "unanswerable questions"
    assert (found.entries, gate.certificate.questions) == (40, 20) and gate.certificate.bound <= 0.25
    session = Session.open(library, gate=tmp_path / "gate.json")  # its ranker is the gate's
    answers = [session.ask(f"{question[:-1]}, please?") for question in ROWS]
    right = [isinstance(each, Answer) and each.candidate.text in ROWS.values() for each in answers]
    assert np.mean(right) > 0.8
    for question in STRANGE:
        result = session.ask(question)
        assert (
            isinstance(result, Abstention) and "25 % of questions without an answer get one" in result.reason
        )
    with pytest.raises(UsageError, match="calibrated on other files"):
        Session.open(Library(rows()[1:]), gate=gate)


def test_a_question_that_stands_there_is_answered_however_strict_the_gate(
    library: Library, found: Withheld
) -> None:
    strict = replace(found.gate(0.25), threshold=0.9999)
    session = Session.open(library, gate=strict)
    answers = [session.ask(question) for question in ROWS]
    assert all(isinstance(each, Answer) and each.certificate for each in answers)
    assert [each.candidate.text for each in answers if isinstance(each, Answer)] == list(ROWS.values())
    assert isinstance(session.ask("How long may one keep the drill?"), Abstention)


def test_it_says_what_is_promised_and_what_is_not(found: Withheld) -> None:
    gate = found.gate(0.25)
    assert gate.promise.startswith(
        "Of questions like these files' own that have no answer in them, at most 25 %"
    )
    assert "20 entries were removed" in gate.promise
    assert "needs labels" in gate.scope[0] and "no promise" in gate.scope[2]


@pytest.mark.usefixtures("few")
def test_too_few_entries_make_no_gate(library: Library) -> None:
    with pytest.raises(NoThreshold, match="4 entries that were removed"):
        withheld(library).gate(0.1)


@pytest.mark.usefixtures("few")
def test_of_many_removed_entries_a_sample_is_asked_about(
    library: Library, found: Withheld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demur.asking.gates.withheld.ASKED", 8)
    some = withheld(library, share=0.5)
    assert some.removed == found.removed == 20 and some.taken == found.taken[:8]
    assert np.allclose(some.confidence, found.confidence[:8], atol=1e-6), "the others are gone all the same"
    assert some.gate(0.5).certificate.questions == 8


def test_files_without_an_faq_are_refused() -> None:
    with pytest.raises(UsageError, match="have no FAQ"):
        withheld(Library(["One.", "Two."]))
    with pytest.raises(UsageError, match="1 is not a share of the entries"):
        withheld(Library(rows()), share=1)


@pytest.mark.usefixtures("few")
def test_chance_hangs_on_the_seed_and_not_on_the_order(library: Library, found: Withheld) -> None:
    turned = withheld(Library(rows()[::-1]), share=0.5)
    assert [each.questions for each in turned.taken] == [each.questions for each in found.taken]
    assert np.allclose(turned.confidence, found.confidence, atol=1e-4)
    other = withheld(library, share=0.5, seed=1)
    assert {each.questions for each in other.taken} != {each.questions for each in found.taken}


def test_entries_that_are_nearly_the_same_are_listed(found: Withheld) -> None:
    twin = "How long may I keep a drill for?"
    made = Library([*rows(), Passage("t", "Seven days.", "faq.csv", 99, twin, twin)])
    pairs = {each.question: each.other for each in withheld(made, share=0.5).alike()}
    assert twin in pairs.values() and pairs[twin] == "How long may I keep a drill?"
    assert not any(each.cosine >= 0.9 for each in found.alike())
    assert found.alike(0.01) == found.alike(0.5), "a low threshold makes no two entries one"


def test_estimates_go_down_with_the_threshold(found: Withheld) -> None:
    assert found.left_one_out(0.0) == 1 and found.left_one_out(1.0) == 0
    assert found.answered(0.0) > 0.8 and found.answered(1.0) == 0


@pytest.mark.usefixtures("few")
def test_a_base_is_asked_as_it_is(found: Withheld, tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path / "faq.kb")
    base.put("faq.csv", rows())
    base.embed()
    seen = withheld(base, share=0.5)
    assert np.allclose(seen.confidence, found.confidence, atol=0.03)  # vectors are kept in bytes
    gate = seen.gate(0.25)
    assert isinstance(Session.open(base, gate=gate).ask("How long may I keep a drill?"), Answer)


def test_labels_that_a_base_keeps_calibrate_the_whole_pipeline(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path / "faq.kb")
    base.put("faq.csv", rows())
    base.embed()
    assert fresh(base) == []
    place = {base.passage(each).text: each for each in base.all_places()}
    for question, answer in ROWS.items():
        base.label(f"{question[:-1]}, please?", place[answer], 1)
    base.label(STRANGE[0], None, 0)
    pools = [each.pool for each in fresh(base)]
    assert len(pools) == 41 and [pool.positives for pool in pools] == [1] * 40 + [0]
    gate = calibrate(base, pools, 0.4, ranker="meaning")
    assert gate.qualifier == "top" and gate.certificate.errors <= 1 and gate.certificate.accepted > 20
    result = Session.open(base, gate=gate).ask("How long may I keep a drill, please?")
    assert isinstance(result, Answer) and result.certificate is not None and result.certificate["risk"] == 0.4


def test_other_gates_are_read_as_before_and_this_one_is_not_checked_by_labels(
    library: Library, found: Withheld
) -> None:
    old = Gate.load(packaged.FOLDER)
    assert old.certificate.about == "answers" and "about" not in dict(old.certificate)
    pool = Pool("q", "?", (Candidate("1", "x", 1),))
    with pytest.raises(UsageError, match="made without labels"):
        check(replace(found.gate(0.25)), library.search("meaning"), [pool])
