"""Old spellings of names in specs still work, and say what they are called now."""

from __future__ import annotations

import pytest

import demur
from demur import renamed
from demur.experiments.recipe import Column, Row, Stage, Table
from demur.experiments.runs import Run

FORUM = 'fusion(rankers="overlap; {}")'


def test_an_old_name_in_a_spec_builds_the_same_ranker(caplog: pytest.LogCaptureFixture) -> None:
    renamed._tell.cache_clear()
    old = demur.ranker(FORUM.format("telling(thanks=2)"))
    assert caplog.messages == ["the ranker telling is now called forum-prior; write the new name"]
    new = demur.ranker(FORUM.format("forum-prior(thanks=2)"))
    assert len(caplog.messages) == 1, "of the new name there is nothing to say, of the old one once"
    assert (
        old.score("q", ["thanks, one", "two?"]).tolist() == new.score("q", ["thanks, one", "two?"]).tolist()
    )
    assert old.fingerprint == new.fingerprint, "or gates for it would be refused"
    assert demur.ranker("forum-prior").fingerprint == "1972c639d97e89a4", "as it was under its first name"


def test_a_new_name_in_a_recipe_leaves_keys_as_they_are(caplog: pytest.LogCaptureFixture) -> None:
    runs = [run_of(Row("x", ranker=FORUM.format(name))) for name in ("telling", "forum-prior")]
    assert runs[0].key("data") == runs[1].key("data") != run_of(Row("x", ranker="overlap")).key("data")
    taught = [
        run_of(
            Row(
                "x",
                trainer=f"self(teacher={name}, student=cross-encoder)",
                stage=[Stage("example/questions")],
            )
        )
        for name in ("telling", "forum-prior")
    ]
    assert taught[0].key("data") == taught[1].key("data")
    assert runs[0].editions == runs[1].editions and runs[1].editions["ranker telling"] == 1


def run_of(row: Row) -> Run:
    column = Column("c", "example/questions")
    return Run(Table("toy", "t", "T", ["MAP"], ["fixed"], "", [column], [row]), row, column, 0)


def test_words_and_paths_that_hold_a_new_name_stay() -> None:
    text = "/models/forum-prior; my-forum-prior; forum-prior-2; 'forum-prior'; forum-prior(thanks=1)"
    stays = "/models/forum-prior; my-forum-prior; forum-prior-2; 'telling'; telling(thanks=1)"
    assert renamed.first_spelled(text) == stays
