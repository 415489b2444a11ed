"""Runs and judgements in TREC's and BEIR's spelling."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.data import formats
from demur.errors import DataError, UsageError

words = st.text(min_size=1, max_size=8).filter(lambda text: text.split() == [text])
cells = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r"), max_size=8)
scores = st.floats(allow_nan=False)
runs = st.dictionaries(words, st.dictionaries(words, scores, min_size=1, max_size=4), max_size=3)
qrels = st.dictionaries(words, st.dictionaries(words, st.integers(), min_size=1, max_size=4), max_size=3)
tables = st.dictionaries(cells, st.dictionaries(cells, st.integers(), min_size=1, max_size=4), max_size=3)


@settings(max_examples=50, deadline=None)
@given(run=runs)
def test_runs_come_back_with_every_digit(
    tmp_path_factory: pytest.TempPathFactory, run: dict[str, dict[str, float]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "a.run.gz"
    assert formats.write_run(path, run) == sum(map(len, run.values()))
    assert formats.read_run(path) == run


@settings(max_examples=50, deadline=None)
@given(trec=qrels, beir=tables)
def test_judgements_come_back(
    tmp_path_factory: pytest.TempPathFactory, trec: dict[str, dict[str, int]], beir: dict[str, dict[str, int]]
) -> None:
    for name, judged in (("a.qrels", trec), ("a.tsv", beir)):
        path = tmp_path_factory.getbasetemp() / name
        assert formats.write_qrels(path, judged) == sum(map(len, judged.values()))
        assert formats.read_qrels(path) == judged


def test_a_run_is_written_best_first_and_its_rank_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    formats.write_run(path, {"q": {"low": 0.1, "tie1": 1 / 3, "high": 2, "tie2": 1 / 3}}, tag="mine")
    assert path.read_text() == (
        "q Q0 high 1 2.0 mine\nq Q0 tie1 2 0.3333333333333333 mine\n"
        "q Q0 tie2 3 0.3333333333333333 mine\nq Q0 low 4 0.1 mine\n"
    )
    path.write_text("\ufeffq Q0 a 1 0.5 x\r\n\r\nq\tQ0\tb\t7\t1e3\tx\r\n")
    assert formats.read_run(path) == {"q": {"a": 0.5, "b": 1000.0}}


def test_judgements_may_be_spelled_in_many_ways(tmp_path: Path) -> None:
    path = tmp_path / "a.qrel"
    path.write_text("q U0 a 4\nq\tQ0\tb\t-1\n\nr E0  c 1.0\n")
    assert formats.read_qrels(path) == {"q": {"a": 4, "b": -1}, "r": {"c": 1}}
    path.write_text("\ufeffquery-id\tcorpus-id\tscore\r\nq 1\td 1\t2\r\n")
    assert formats.read_qrels(path) == {"q 1": {"d 1": 2}}


def test_empty_files_hold_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\n")
    assert formats.read_run(tmp_path / "a") == {}
    assert formats.read_qrels(tmp_path / "a") == {}


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (
            {"a b": {"d": 1.0}},
            "a.run: id 'a b' is empty or has a space, which TREC files cannot hold; give it another",
        ),
        ({"q": {"": 1.0}}, "a.run: id '' is empty or has a space, which TREC files cannot hold"),
        ({"q": {"d": float("nan")}}, "a.run: the score of 'd' for question 'q' is NaN; a ranker must give"),
    ],
)
def test_what_a_run_cannot_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: dict[str, dict[str, float]], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=message):
        formats.write_run("a.run", run)
    assert list(tmp_path.iterdir()) == []


def test_a_tag_is_one_word() -> None:
    with pytest.raises(UsageError, match="the tag of a run must be one word, not 'my run'"):
        list(formats.run_lines("q", {"d": 1.0}, "my run"))


def test_ids_that_judgements_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has a space, which TREC files cannot hold"):
        formats.write_qrels(tmp_path / "a.qrels", {"q": {"d 1": 1}})
    with pytest.raises(DataError, match="has a tab or line break"):
        formats.write_qrels(tmp_path / "a.tsv", {"q": {"d\t1": 1}})
