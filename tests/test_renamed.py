"""Old spellings of public names still work, and say what they are called now."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import demur
from demur import renamed
from demur.doubt.base import Proba
from demur.experiments.recipe import Column, Row, Stage, Table
from demur.experiments.runs import Run
from demur.types import Pool


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("demur.data.formats", "read", "read_pools"),
        ("demur.data.formats", "write", "write_pools"),
        ("demur.doubt", "opened", "open_doubt"),
        ("demur.doubt", "taught", "train_doubt"),
        ("demur.doubt", "Kept", "TrainedDoubt"),
        ("demur.training", "Report", "Reporter"),
        ("demur.embedders.caching", "kept", "cached_on_disk"),
    ],
)
def test_old_names_are_the_new_ones_with_a_warning(module: str, old: str, new: str) -> None:
    found = importlib.import_module(module)
    with pytest.warns(DeprecationWarning, match=rf"{module}\.{old} is now called {new}; .* with demur 0\.2"):
        assert getattr(found, old) is getattr(found, new)
    with pytest.raises(AttributeError, match="has no attribute 'rede'"):
        found.rede  # noqa: B018


def test_a_program_with_the_old_names_reads_what_it_wrote(tmp_path: Path) -> None:
    from demur.data import formats

    pools = [Pool.of("who?", ["Ada did."], [1], id="a")]
    with pytest.warns(DeprecationWarning):
        formats.write(tmp_path / "pools.jsonl", pools)  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning):
        assert list(formats.read(tmp_path / "pools.jsonl")) == pools  # type: ignore[attr-defined]


FORUM = 'fusion(rankers="overlap; {}")'


def test_a_doubt_says_its_confidence_by_the_old_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Proba, "confidence_of", lambda self, seen, others=(): (seen, others))
    with pytest.warns(DeprecationWarning, match=r"Proba\.sure is now called confidence_of"):
        assert Proba().sure("seen", others=["others"]) == ("seen", ["others"])


def test_an_old_name_in_a_spec_builds_the_same_ranker(caplog: pytest.LogCaptureFixture) -> None:
    renamed._tell.cache_clear()
    old = demur.ranker(FORUM.format("telling(thanks=2)"))
    assert caplog.messages == [
        "the ranker telling is now called forum-prior; the old name goes with demur 0.2"
    ]
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
        run_of(Row("x", trainer=f"self(teacher={name})", stage=[Stage("example/questions")]))
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
