"""Labels and questions to be labelled, kept in a base."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from demur.errors import UsageError
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from demur.kb.store import asked, schema
from kb.places import Place, place

__all__ = ["place"]  # a fixture


@pytest.fixture
def kb(place: Place) -> KnowledgeBase:
    made = KnowledgeBase(place("x.kb"))
    made.put("guide", [Passage(f"guide:{n}", f"Text number {n}.", "guide", n) for n in range(1, 6)])
    return made


def test_labels_of_a_question_take_the_place_of_earlier_ones(kb: KnowledgeBase) -> None:
    places = [kb.places(f"guide:{n}")[0] for n in range(1, 4)]
    kb.settle("who?", places[:1], places[1:])
    kb.settle("when?", [])
    assert [(each.question, each.place, each.label) for each in kb.labels()] == [
        ("who?", places[1], 0),
        ("who?", places[2], 0),
        ("who?", places[0], 1),
        ("when?", None, 0),
    ]
    kb.settle("who?", [], places[:1])
    said = [(each.place, each.label) for each in kb.labels() if each.question == "who?"]
    assert said == [(places[0], 0), (None, 0)], "it is kept that none answers"
    assert kb.forget("who?") and not kb.forget("who?")
    assert {each.question for each in kb.labels()} == {"when?"}
    assert len(KnowledgeBase(kb.path).labels()) == 1
    with pytest.raises(UsageError, match="needs a question"):
        kb.settle(" ", places)
    for wordless in ("?", "!!"):
        with pytest.raises(UsageError, match="has no word; label one that has"):
            kb.settle(wordless, [])


def test_questions_are_kept_once_and_only_so_many(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kb.keep_questions(["who?", " when  is it? ", "", "who?"]) == 2
    assert kb.keep_questions(["who?"]) == 0
    assert set(KnowledgeBase(kb.path).questions()) == {"who?", "when is it?"}
    monkeypatch.setattr(asked, "MOST", 3)
    with pytest.raises(UsageError, match="2 new questions to label are 1 too many, as 3 are kept at most"):
        kb.keep_questions(["1", "2"])
    assert set(kb.questions()) == {"who?", "when is it?"}, "all or none"
    assert kb.keep_questions(["1"]) == 1 and len(kb.questions()) == 3


def test_logged_questions_give_way_the_oldest_first(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked, "MOST", 4)
    assert [kb.keep_questions([each], logged=True) for each in "abcdea"] == [1, 1, 1, 1, 1, 1]
    assert kb.questions() == ["c", "d", "e", "a"]
    assert kb.keep_questions(["who?", "d"]) == 1, "one of them was logged, and is brought from now on"
    assert kb.questions() == ["d", "e", "a", "who?"]
    assert kb.keep_questions(["when?", "why?"]) == 2
    assert kb.questions() == ["d", "who?", "when?", "why?"]
    assert kb.keep_questions(["f"], logged=True) == 0, "nothing that was brought gives way to it"
    with pytest.raises(UsageError, match="1 new questions to label are 1 too many"):
        kb.keep_questions(["how?"])
    kb.settle("who?", [])
    assert kb.keep_questions(["how?"]) == 1, "in place of one that is labelled"
    assert kb.questions() == ["d", "when?", "why?", "how?"] and len(kb.labels()) == 1


def test_a_question_is_the_same_in_any_spelling(kb: KnowledgeBase) -> None:
    first, second = (kb.places(f"guide:{n}")[0] for n in (1, 2))
    kb.settle("Do you take Visa?", [first])
    kb.settle("do you take VISA", [])
    assert [(each.question, each.place) for each in kb.labels()] == [("do you take VISA", None)]
    kb.label("Do you take visa!", second, 1)
    assert [(each.question, each.place) for each in kb.labels()] == [
        ("do you take VISA", None),
        ("do you take VISA", second),
    ]
    for one, other in (
        ("for ≥ 5 kg", "for ≤ 5 kg"),
        ("is 👍 meant", "is 👎 meant"),
        ("किताब", "कताब"),
    ):
        kb.settle(one, [first])
        kb.settle(other, [])
        assert kb.forget(one) and kb.forget(other), "these are two questions"
    assert kb.forget("Do you, take Visa?") and not kb.labels()


def test_labels_of_both_spellings_that_an_older_version_kept_are_removed(kb: KnowledgeBase) -> None:
    kb.settle("who?", [])
    with kb._truth().noting() as said:
        said.execute(
            "INSERT INTO labels (question, hash, heading, text, label, made) VALUES (?, ?, ?, ?, ?, ?)",
            ("WHO", None, "", "", 0, 0.0),
        )
    assert {each.question for each in kb.labels()} == {"who?", "WHO"}
    assert kb.forget("Who!") and not kb.labels()


def test_passages_are_found_by_their_names_with_those_beside_them(kb: KnowledgeBase) -> None:
    (place,) = kb.places("guide:3")
    assert [each.id for each in kb.near(place, 1)] == ["guide:2", "guide:3", "guide:4"]
    assert [each.id for each in kb.near(kb.places("guide:1")[0], 1)] == ["guide:1", "guide:2"]
    assert kb.places("nowhere") == [] and kb.near(10**6, 1) == []


def test_a_base_that_was_made_before_is_brought_up_to_date(tmp_path: Path) -> None:
    older(tmp_path / "x.kb")
    assert KnowledgeBase(tmp_path / "x.kb").keep_questions(["who?"]) == 1


def test_an_older_base_that_may_not_be_written_is_read_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older(tmp_path / "x.kb")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    assert KnowledgeBase(tmp_path / "x.kb").by_words("text number", 9)[0].size == 5


def older(folder: Path) -> None:
    """Make a base, and take away what the second version brought."""
    kb = KnowledgeBase(folder)
    kb.put("guide", [Passage(f"guide:{n}", f"Text number {n}.", "guide", n) for n in range(1, 6)])
    kb.close()
    file = sqlite3.connect(folder / schema.NAME)
    file.execute("DROP TABLE asked")
    file.execute("PRAGMA user_version = 1")
    file.commit()
    file.close()
