"""A budget says how much the network reads again; nothing is measured here."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from demur.asking import Library, Passage, Session, as_plain
from demur.asking.gates.gate import find_gate
from demur.asking.gates.without import Without
from demur.asking.meaning import budget
from demur.asking.meaning.budget import Speeds, fitting, milliseconds
from demur.asking.meaning.finding import maker
from demur.asking.meaning.ranker import READ, by_meaning
from demur.errors import UsageError
from demur.kb.folder import KnowledgeBase

TEXTS = [f"Saw number {n} hangs on hook {n + 3} of the long wall." for n in range(20)]


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "speeds", lambda: Speeds(finding=20.0, reading=40.0))


@pytest.mark.parametrize(("said", "found"), [("300ms", 300), ("0.5s", 500), (" 2 S ", 2000), ("1.5 ms", 1.5)])
def test_a_time(said: str, found: float) -> None:
    assert milliseconds(said) == found


@pytest.mark.parametrize("said", ["", "300", "ms", "-1s", "0ms", "3 m", 300])
def test_what_is_no_time(said: str) -> None:
    with pytest.raises(UsageError, match=r"is not a time; write 300ms or 0\.5s"):
        milliseconds(said)


@pytest.mark.parametrize(("said", "count"), [("10ms", 0), ("60ms", 1), ("99ms", 1), ("100ms", 2), ("9s", 12)])
def test_how_many_fit(said: str, count: int) -> None:
    assert fitting(said, 12) == count


def test_no_more_is_read_than_fits_and_what_was_cut_is_told() -> None:
    library = Library(TEXTS)
    ranking = by_meaning(library, budget="150ms").find("On which hook hangs saw number seven?")
    assert sum("look" in each.extra for each in ranking.candidates) == 3
    assert {each.extra["cut"] for each in ranking.candidates} == {READ - 3}
    answer = Session.open(library, "meaning", budget="150ms").ask("On which hook hangs saw number seven?")
    assert as_plain(answer)["ranking"][0]["cut"] == READ - 3
    whole = by_meaning(library).find("On which hook hangs saw number seven?")
    assert sum("look" in each.extra for each in whole.candidates) == READ
    assert not any(each.extra["cut"] for each in whole.candidates)


def test_a_gate_for_more_reading_is_not_for_less() -> None:
    library = Library(TEXTS)
    assert by_meaning(library, budget="9s").fingerprint == by_meaning(library).fingerprint
    less = by_meaning(library, budget="150ms")
    assert less.fingerprint != by_meaning(library).fingerprint and "read=3" in less.spec


def test_nothing_is_read_where_it_cannot_change_the_answer() -> None:
    there = Passage("q", "Tell the desk.", heading="Cards > What if my card is lost?")
    ranking = by_meaning(Library([*TEXTS, there])).find("what if my CARD is lost")
    assert ranking.candidates[0].id == "q" and ranking.scores[0] == max(ranking.scores)
    assert not any("look" in each.extra for each in ranking.candidates)
    assert not ranking.candidates[0].extra["cut"]


def test_a_gate_that_does_not_fit_a_budget_says_so(caplog: pytest.LogCaptureFixture) -> None:
    session = Session.open(Library(TEXTS), budget="150ms")
    theirs = find_gate(None, "meaning", files=True)
    assert theirs is not None
    assert session.gate is None and session.rule.least == theirs.threshold, "no less careful for it"
    assert (
        "the gate is set aside: within 150ms 3 passages are read, its promise is for 12; allow more"
        in caplog.text
    )


def test_a_budget_cuts_nothing_of_an_faq(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = [{"question": f"Where does saw number {n} hang?", "answer": text} for n, text in enumerate(TEXTS)]
    faq = tmp_path / "faq.jsonl"
    faq.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    text = tmp_path / "wall.txt"
    text.write_text("There is a long wall.", "utf-8")
    with closing(KnowledgeBase(tmp_path / "base")) as base:
        base.add([faq])
        base.embed(maker())
        base.refresh()
        for passages in (Library(faq), base):
            session = Session.open(passages, "meaning", risk=0.2, budget="10ms")
            assert session.gate is not None and passages.without_question == 0
            hidden = Without(passages, (1,))
            assert (len(hidden), hidden.without_question) == (len(TEXTS) - 1, 0)
        assert "set aside" not in caplog.text
        base.add([text])
        base.embed(maker())
        base.refresh()
        assert base.without_question == Library([faq, text]).without_question == 1
        place = base.by_words("wall", 1)[0].tolist()[0]
        assert Without(base, (place,)).without_question == 0
        with pytest.raises(UsageError, match="within 10ms 0 passages are read, its promise is for 12; allow"):
            Session.open(base, "meaning", risk=0.2, budget="10ms")
        base.remove([text])
        base.refresh()
        assert base.without_question == 0


def test_a_budget_is_for_meaning() -> None:
    with pytest.raises(UsageError, match="take the ranker meaning"):
        Session.open(["One."], "bm25", budget="1s")
    with pytest.raises(UsageError, match="is not a time"):
        Session.open(["One."], "meaning", budget="soon")


def test_the_race_is_run_once_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path))
    races = []

    def race() -> Speeds:
        races.append(1)
        return Speeds(5.0, 7.0)

    monkeypatch.setattr(budget, "race", race)
    for _ in range(2):
        budget.speeds.cache_clear()  # as in another process
        assert budget.speeds() == Speeds(5.0, 7.0)
    (kept,) = tmp_path.rglob("*.json")
    assert races == [1] and json.loads(kept.read_text("utf-8")) == {"finding": 5.0, "reading": 7.0}
    kept.write_text("{", "utf-8")
    budget.speeds.cache_clear()
    assert budget.speeds() == Speeds(5.0, 7.0) and len(races) == 2
    budget.speeds.cache_clear()
