"""Golden runs: every part comes to the numbers that its edition stands for, on any processor."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from demur import editions
from golden import comparing, datasets, trained
from golden.comparing import RUNS, alike, kept, known, told


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)


def test_every_part_has_a_golden_run() -> None:
    """A new part needs a run under tests/golden, in RUNS of the module for its kind, and `make golden`."""
    assert set(RUNS) == set(known()), "a part has no run, or a run no part"
    assert set(RUNS) == set(kept()), "run `make golden`"


def test_a_dataset_without_lines_of_its_own_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(datasets.TEXTS, "wikiqa")
    with pytest.raises(AssertionError, match="'wikiqa' to TEXTS above, and run `make golden`"):
        datasets.loaded("wikiqa")


@pytest.mark.parametrize("part", known())
def test_figures_are_those_of_the_edition(part: str) -> None:
    assert told(part, RUNS[part]()) == ""


def test_other_figures_ask_for_another_edition(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = RUNS["ranker overlap"]()
    moved = [numbers[0] + 0.01, *numbers[1:]]
    assert "its edition is the same. If that is meant, raise its edition" in told("ranker overlap", moved)
    assert "of what it stands on (net multihop)" in told("ranker multihop", [])
    monkeypatch.setitem(editions.RAISED, "ranker overlap", 2)
    assert "was raised: write its golden run anew with `make golden`" in told("ranker overlap", moved)
    assert "is new" in told("ranker other", [])
    assert told("ranker length", RUNS["ranker length"]()) == ""


def test_a_new_split_is_no_other_edition_of_those_before() -> None:
    numbers = RUNS["dataset wikiqa"]()
    assert "has a new split" in told("dataset wikiqa", [*numbers, 1, 2, 3])
    assert "its edition is the same" in told("dataset wikiqa", [1, 2, 3, *numbers])
    assert "its edition is the same" in told("ranker overlap", [*RUNS["ranker overlap"](), 1])


def test_rounding_is_no_other_figure() -> None:
    assert alike("ranker x", [8.0, 0.5], [8.0005, 0.50009]) and not alike("ranker x", [0.5], [0.5002])
    assert alike("trainer x", [0.5], [0.502]) and not alike("trainer x", [0.5], [0.504])
    assert alike("trainer x", [0.5, 0.7, 0.9], [0.504, 0.704, 0.904]), "the level of scores"
    assert not alike("trainer x", [0.5, 0.7, 0.9], [0.504, 0.704, 0.91])
    assert not alike("trainer x", [0.5, 0.7, 0.9], [0.6, 0.8, 1.0])
    assert not alike("ranker x", [0.5, 0.7, 0.9], [0.504, 0.704, 0.904])
    assert not alike("trainer x", [0.5], [0.5, 0.1]) and not alike("ranker x", [0.5], [float("nan")])


def test_what_is_written_anew_has_a_raised_edition(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "golden.json"
    row = '{"editions": {"ranker length": 1}, "numbers": [1.0]}'
    file.write_text(f'{{"ranker length": {row}}}')
    for name, value in {"FILE": file, "RUNS": {"ranker length": lambda: [2.0]}}.items():
        monkeypatch.setattr(comparing, name, value)
    monkeypatch.setattr(comparing, "known", lambda: ["ranker length"])
    kept.cache_clear()
    try:
        assert comparing.main() == 1 and "[1.0]" in file.read_text(), "nothing is covered up"
        assert "raise its edition" in capsys.readouterr().out
        monkeypatch.setitem(editions.RAISED, "ranker length", 2)
        assert comparing.main() == 0 and "[2.0]" in file.read_text()
    finally:
        kept.cache_clear()


def test_what_shares_a_part_shares_its_edition(monkeypatch: pytest.MonkeyPatch) -> None:
    before = editions.editions(["trainer scan", "ranker bm25"])
    monkeypatch.setitem(editions.RAISED, "net cross-encoder", 2)
    after = editions.editions(["trainer scan", "ranker bm25"])
    assert [part for part in before if before[part] != after[part]] == ["net cross-encoder"]


@pytest.mark.parametrize("name", trained.SPECS)
def test_the_same_seed_gives_the_same_bits(name: str) -> None:
    """On one machine, with as many threads: weights are the same to the last bit, whichever trainer."""
    once, again = trained.weights(trained.taught(name)), trained.weights(trained.fresh(name))
    assert once and once.keys() == again.keys()
    assert [part for part in once if once[part] != again[part]] == []
