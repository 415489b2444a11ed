"""Cells that are run again confirm what is kept, or make it stale."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from demur.cli.experiments.reproduce import reproduce
from demur.cli.experiments.verify import verify_tables
from demur.errors import UsageError
from demur.experiments import tables
from demur.experiments.pages import markdown
from demur.experiments.recipe import Table
from demur.experiments.results import earlier, stored, verifying
from demur.experiments.runs import Run
from experiments.results.changing import LEXICAL, changed, made_earlier, origins


def test_cells_that_come_again_confirm_their_kind(
    filled: tuple[Table, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, results = filled
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "avx2")
    made_earlier(results)
    before = {file: file.read_bytes() for file in results.rglob("*.json")}
    done = list(verifying.again(verifying.drawn([table], results, 1, 0, ["lexical"]), results))
    [(run, one)] = done
    assert one.holds and one.difference == 0 and one.tolerance == verifying.EXACT
    assert {file: file.read_bytes() for file in results.rglob("*.json")} == before, "nothing is written"
    file = verifying.recorded(done, results)
    [cell] = json.loads(file.read_text())[LEXICAL]
    assert (
        cell["holds"]
        and cell["made_by"]
        and cell["processor"].endswith("=avx2")
        and earlier.family(run) == LEXICAL
    )
    assert origins(table, results)["bm25"] == "confirmed"
    assert "° made by an earlier edition, confirmed by rerun of 1 cell of its kind" in markdown.section(
        table, results
    )
    verifying.recorded(done, results)
    assert len(json.loads(file.read_text())[LEXICAL]) == 1, "a cell stands there once"


def test_a_cell_that_does_not_come_again_makes_its_kind_stale(filled: tuple[Table, Path]) -> None:
    table, results = filled
    file = made_earlier(results)
    text = json.loads(file.read_text())
    text["conventions"]["scan"]["estimates"]["P@1"][0] += 0.01
    file.write_text(json.dumps(text))
    done = list(verifying.again(verifying.drawn([table], results, 1, 0, ["lexical"]), results))
    one = done[0][1]
    assert not one.holds and one.measure == "P@1  scan" and one.difference == pytest.approx(0.01)
    verifying.recorded(done, results)
    assert origins(table, results)["bm25"] == "stale"
    tables.fill(table, results, (), lambda runs: None)
    assert "editions" in json.loads(file.read_text()) and origins(table, results)["bm25"] != "stale"


def test_what_is_out_of_date_is_not_drawn(filled: tuple[Table, Path]) -> None:
    table, results = filled
    changed(results, editions={"ranker bm25": 0})
    assert origins(table, results)["bm25"] == "stale"
    assert {run.row.name for run in verifying.drawn([table], results, 9, 0)} == {"random"}


def test_what_is_drawn_hangs_on_the_draw_and_goes_over_all_kinds(filled: tuple[Table, Path]) -> None:
    table, results = filled
    for draw in range(4):
        found = verifying.drawn([table], results, 2, draw)
        assert {run.row.name for run in found} == {"bm25", "random"}
    every = {tuple(run.file for run in verifying.drawn([table], results, 3, draw)) for draw in range(8)}
    assert len(every) > 1
    assert verifying.drawn([table], results, 3, 1) == verifying.drawn([table], results, 3, 1)
    assert len(verifying.drawn([table], results, 99, 0)) == 4
    one_family = replace(table, row=[replace(row, group="one") for row in table.row])
    for draw in range(4):
        found = verifying.drawn([one_family], results, 2, draw)
        assert {run.row.name for run in found} == {"bm25", "random"}, "all its rows, before one comes twice"


def test_what_is_to_be_confirmed_is_drawn_first(filled: tuple[Table, Path]) -> None:
    table, results = filled
    made_earlier(results, "random")  # seed 0; the other two are of today
    floor = "toy/table1: floor"
    for draw in range(8):
        [run] = verifying.drawn([table], results, 1, draw, ["floor"])
        assert run.seed == 0
        [run] = verifying.drawn([table], results, 1, draw, confirm=True)
        assert (run.row.name, run.seed) == ("random", 0), "its kind before one with nothing to confirm"
    assert {verifying.drawn([table], results, 1, draw)[0].row.name for draw in range(8)} == {"bm25", "random"}
    verifying.recorded(list(verifying.again([run], results)), results)
    assert origins(table, results)["random"] == "confirmed" and floor in earlier.record(results)
    [run] = verifying.drawn([table], results, 1, 0, ["floor"])
    assert run.seed == 0, "what is confirmed before what needs none"


def test_what_today_made_says_nothing_of_earlier_results(filled: tuple[Table, Path]) -> None:
    table, results = filled
    made_earlier(results, "random")
    [of_today] = [run for run in verifying.drawn([table], results, 9, 0, ["floor"]) if run.seed == 1]
    verifying.recorded(list(verifying.again([of_today], results)), results)
    assert origins(table, results)["random"] == "earlier"
    assert "‡ made by an earlier edition; no cell of its kind" in markdown.section(table, results)


def test_so_many_are_drawn_of_all_tables(filled: tuple[Table, Path]) -> None:
    table, results = filled
    other = replace(table, table="table2")
    tables.fill(other, results, (), lambda runs: None)
    found = verifying.drawn([table, other], results, 3, 0)
    assert len(found) == 3 and {run.table.table for run in found} == {"table1", "table2"}


def test_a_trained_cell_may_be_off_as_far_as_its_seeds() -> None:
    from demur.experiments.recipe import Column, Row, Stage

    row = Row("net", trainer="siamese", stage=[Stage("train")])
    table = Table("toy", "t", "T", ["MAP"], ["fixed"], "", [Column("c", "example/questions")], [row])
    run = Run(table, row, table.column[0], 0)

    def result(mean: float) -> dict[str, Any]:
        values = {"pools": ["q"], "values": {"MAP": [mean]}, "estimates": {"MAP": [mean, 0.0, 1.0]}}
        return {"conventions": {"fixed": values}, "commit": "x", "threads": 1, "seconds": 0.1}

    for off, holds in ((0.0029, True), (0.0031, False)):
        found = verifying._beside(run, result(0.5), result(0.5 + off), Path("nowhere"))
        assert (found.holds, found.tolerance) == (holds, verifying.TRAINED)
    exact = replace(row, trainer="", stage=[], ranker="bm25")
    other = Run(table, exact, table.column[0], 0)
    assert not verifying._beside(other, result(0.5), result(0.50001), Path("nowhere")).holds


@pytest.mark.parametrize(("group", "ours", "others"), [("", 0.03, 0.21), ("nets", 0.0265, 0.123)])
def test_a_seed_that_came_out_oddly_is_no_excuse_for_itself(
    group: str, ours: float, others: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three standard deviations of a difference, of its own seeds or of those of all rows of its kind."""
    from demur.experiments.recipe import Column, Row, Stage

    row = Row("net", group=group, trainer="siamese", stage=[Stage("train")], seeds=[0, 1, 2])
    like = replace(row, name="another net")
    table = Table("toy", "t", "T", ["MAP"], ["fixed"], "", [Column("c", "example/questions")], [row, like])
    kept = {("net", 0): 0.50, ("net", 1): 0.58, ("net", 2): 0.51}
    kept |= {("another net", 0): 0.70, ("another net", 1): 0.71, ("another net", 2): 0.70}

    def result(mean: float) -> dict[str, Any]:
        values = {"pools": ["q"], "values": {"MAP": [mean]}, "estimates": {"MAP": [mean, 0.0, 1.0]}}
        return {"conventions": {"fixed": values}, "commit": "x", "threads": 1, "seconds": 0.1}

    monkeypatch.setattr(verifying, "stored_result", lambda run, results: result(kept[run.row.name, run.seed]))
    odd, other = (
        verifying._beside(
            Run(table, row, table.column[0], seed), result(kept["net", seed]), result(0.505), Path()
        )
        for seed in (1, 0)
    )
    assert not odd.holds and odd.tolerance == pytest.approx(ours, abs=0.001), "the others lie .01 apart"
    assert other.holds and other.tolerance == pytest.approx(others, abs=0.005)


def test_the_command_says_what_held_and_fails_if_something_did_not(
    filled: tuple[Table, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    import typer

    table, results = filled
    verify_tables([table], results, 1, 0, ["lexical"], (), False, False)
    assert "1 of 1 cells came again as they are kept, on " in capsys.readouterr().out
    file = made_earlier(results)
    text = json.loads(file.read_text())
    text["conventions"]["fixed"]["estimates"]["MAP"][0] += 0.01
    file.write_text(json.dumps(text))
    with pytest.raises(typer.Exit) as stopped:
        verify_tables([table], results, 1, 0, ["lexical"], (), True, True)
    assert stopped.value.exit_code == 1
    [cell] = json.loads(capsys.readouterr().out)
    assert not cell["holds"] and cell["row"] == "bm25" and (results / earlier.RECORD).is_file()
    with pytest.raises(UsageError, match="no results here that could be run again"):
        verify_tables([table], results / "none", 1, 0, (), (), False, False)


def test_rows_that_took_long_are_left_out(filled: tuple[Table, Path]) -> None:
    table, results = filled
    changed(results, "bm25", seconds=300.0)
    changed(results, "random", seconds=59.0)

    def rows(within: float) -> set[str]:
        return {run.row.name for run in verifying.drawn([table], results, 9, 0, within=within)}

    assert rows(60) == {"random"} and rows(300) == rows(math.inf) == {"bm25", "random"}
    file = results / "toy/table1/random/animals-seed1.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"seconds": 61.0}))
    assert rows(60) == set(), "one of its seeds took longer, maybe to make what all share"
    made_earlier(results, seconds=None)
    assert "bm25" not in rows(1e9), "it does not say how long it took"
    again = {"holds": True, "earlier": True, "seconds": 12.0}
    (results / earlier.RECORD).write_text(json.dumps({LEXICAL: [again]}))
    assert "bm25" in rows(12) and "bm25" not in rows(11), "but another of its kind does"
    (results / earlier.RECORD).unlink()
    with pytest.raises(UsageError, match=r"no row here says that its runs took at most 0\.5 minutes"):
        verify_tables([table], results, 9, 0, (), (), False, False, 0.5)
    with pytest.raises(UsageError, match="--within is for the cells that --verify draws"):
        reproduce("scarce", "table1", within=1)


def test_record_goes_with_verify() -> None:
    with pytest.raises(UsageError, match="say --verify N too"):
        reproduce("scarce", "table1", only=None, column=None, seeds=0, cached=True, picture=None, record=True)


def test_what_stands_on_a_model_that_took_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another row found the first stage made already, so its own result says little of what it takes."""
    from demur.experiments.recipe import Column, Row, Stage

    first, last = Stage("example/questions"), Stage("train")
    rows = [
        Row("first to run", trainer="siamese", stage=[first, last]),
        Row("found it made", trainer="siamese(margin=0.5)", stage=[replace(first, trainer="siamese"), last]),
        Row("of its own", trainer="siamese", stage=[last]),
    ]
    column = Column("c", "example/questions", train="example/questions/train")
    table = Table("toy", "t", "T", ["MAP"], ["fixed"], "", [column], rows)
    took = {"first to run": 900.0, "found it made": 5.0, "of its own": 5.0}
    monkeypatch.setattr(verifying, "stored_result", lambda run, _: {"seconds": took[run.row.name]})
    monkeypatch.setattr(stored, "there", lambda *_: True)
    monkeypatch.setattr(earlier, "origin", lambda *_: "")
    found = verifying.drawn([table], Path("nowhere"), 9, 0, within=60)
    assert [run.row.name for run in found] == ["of its own"]
