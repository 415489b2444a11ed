"""Which rows began from other weights than their baseline, by one recipe."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from demur.experiments.pages import markdown, starts
from demur.experiments.recipe import Column, Model, Row, Stage, Table
from experiments.pages.kept import POOLS, keep, table

COLUMNS = [Column(name, "example/questions", train="a") for name in ("plain", "noise")]
ROWS = ["TANDA", "SCAN", "focal", "one stage"]


def began() -> Table:
    """A table whose rows, but for one, learn in two stages, the first of which is the same."""
    plain = table(ROWS, COLUMNS)
    rows = [
        replace(row, stage=[Stage("squad", seed=0), Stage("train", settings=f"epochs={number + 1}")])
        for number, row in enumerate(plain.row[:-1])
    ]
    return replace(plain, row=[*rows, plain.row[-1]])


def of(start: str, end: str) -> dict[str, list[str]]:
    return {"stages": [start, end]}


def test_rows_that_have_other_initial_weights_are_named(tmp_path: Path) -> None:
    toy = began()
    values = [0.5] * POOLS
    assert starts.note(toy, tmp_path) == ""
    for row in ROWS[:-1]:
        keep(tmp_path, toy, row, "plain", values)
    keep(tmp_path, toy, "one stage", "plain", values, model_hashes={"stages": ["alone"]})
    assert starts.note(toy, tmp_path) == "", "of none it is known"
    keep(tmp_path, toy, "TANDA", "plain", values, model_hashes=of("first", "x"))
    keep(tmp_path, toy, "focal", "plain", values, model_hashes=of("first", "y"))
    assert "more than once: those of SCAN (plain: seed 0) are not known. How" in starts.note(toy, tmp_path)
    keep(tmp_path, toy, "SCAN", "plain", values, model_hashes=of("first", "z"))
    assert starts.note(toy, tmp_path) == "", "all from the same"
    for row in ROWS[:-1]:
        keep(tmp_path, toy, row, "noise", values, model_hashes=of("second", "z"))
    assert starts.note(toy, tmp_path) == "", "rows are held against others of their column"
    keep(tmp_path, toy, "focal", "noise", values, model_hashes=of("first", "z"))
    said = starts.note(toy, tmp_path)
    assert "other initial weights than most have focal (noise: seed 0). How" in said
    assert said in markdown.section(toy, tmp_path)


def test_what_most_of_the_baselines_runs_have_is_usual(tmp_path: Path) -> None:
    toy = began()
    values = [0.5] * POOLS
    for seed, start in enumerate(("old", "new", "new")):
        keep(tmp_path, toy, "TANDA", "plain", values, seed, model_hashes=of(start, f"{seed}"))
    assert "than most have TANDA (plain: seed 0). How" in starts.note(toy, tmp_path)
    keep(tmp_path, toy, "SCAN", "plain", values, 1, model_hashes=of("old", "s"))
    assert "TANDA (plain: seed 0); SCAN (plain: seed 1)." in starts.note(toy, tmp_path)
    alone = starts.note(toy, tmp_path, {("SCAN", "plain")})
    assert "SCAN (plain: seed 1)." in alone and "TANDA" not in alone, "of what is shown"
    assert starts.note(toy, tmp_path, {("focal", "plain")}) == ""


def test_a_row_that_starts_others_and_a_model_in_braces_are_held_against_them(
    tmp_path: Path,
) -> None:
    toy = began()
    alone = replace(toy.row[3], stage=toy.row[0].stage[:1])
    model = Model("TANDA 0", toy.row[0].trainer, toy.row[0].stage)
    named = Row("sum", ranker="fusion(rankers='{TANDA 0}; bm25')")
    toy = replace(toy, row=[*toy.row[:3], alone, named], model=[model])
    values = [0.5] * POOLS
    keep(tmp_path, toy, "TANDA", "plain", values, model_hashes=of("first", "x"))
    keep(tmp_path, toy, "one stage", "plain", values, model_hashes={"stages": ["first"]})
    keep(tmp_path, toy, "sum", "plain", values, model_hashes={"{TANDA 0}": ["first", "x"]})
    assert starts.note(toy, tmp_path) == ""
    keep(tmp_path, toy, "one stage", "plain", values, model_hashes={"stages": ["again"]})
    keep(tmp_path, toy, "sum", "plain", values, model_hashes={"{TANDA 0}": ["first", "y"]})
    assert "one stage (plain: seed 0); sum (plain: seed 0). How" in starts.note(toy, tmp_path)
    keep(tmp_path, toy, "sum", "plain", values)
    assert "those of sum (plain: seed 0) are not known" in starts.note(toy, tmp_path)


def test_what_is_out_of_date_by_its_recipe_is_not_blamed_on_its_start(tmp_path: Path) -> None:
    toy = began()
    for row in ROWS[:2]:
        keep(tmp_path, toy, row, "plain", [0.5] * POOLS, model_hashes=of(row, "x"))
    assert starts.note(toy, tmp_path)
    longer = replace(toy, row=[replace(row, stage=[*row.stage, Stage("train")]) for row in toy.row])
    assert starts.note(longer, tmp_path) == "", "hashes of other stages than today's"
