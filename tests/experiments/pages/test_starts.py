"""Which rows began from other weights than their baseline, by one recipe."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from demur.experiments.pages import markdown, starts
from demur.experiments.recipe import Column, Stage, Table
from experiments.pages.kept import POOLS, keep, table

COLUMNS = [Column(name, "example/questions", train="a") for name in ("plain", "noise")]
ROWS = ["TANDA", "SCAN", "focal", "one stage"]


def began() -> Table:
    """A table whose rows, but for one, learn in two stages, the first of which is the same."""
    plain = table(ROWS, COLUMNS)
    two = [Stage("squad", seed=0), Stage("train")]
    return replace(plain, row=[replace(row, stage=two) for row in plain.row[:-1]] + plain.row[-1:])


def of(start: str, end: str) -> dict[str, list[str]]:
    return {"stages": [start, end]}


def test_rows_that_began_from_other_weights_are_named(tmp_path: Path) -> None:
    toy = began()
    values = [0.5] * POOLS
    assert starts.note(toy, tmp_path) == ""
    for row in ROWS[:-1]:
        keep(tmp_path, toy, row, "plain", values)
    keep(tmp_path, toy, "one stage", "plain", values, model_hashes={"stages": ["alone"]})
    assert starts.note(toy, tmp_path) == "", "of none it is known"
    keep(tmp_path, toy, "TANDA", "plain", values, model_hashes=of("first", "x"))
    keep(tmp_path, toy, "focal", "plain", values, model_hashes=of("first", "y"))
    assert starts.note(toy, tmp_path) == (
        "Of these it was not written down which weights they began from: SCAN (plain, seed 0)."
    )
    keep(tmp_path, toy, "SCAN", "plain", values, model_hashes=of("first", "z"))
    assert starts.note(toy, tmp_path) == "", "all from the same"
    for row in ROWS[1:-1]:
        for seed in range(3):
            keep(tmp_path, toy, row, "noise", values, seed, model_hashes=of("second", "z"))
    said = starts.note(toy, tmp_path)
    assert "they began from other weights: SCAN (noise); focal (noise)." in said, "the baseline's are usual"
    assert said in markdown.section(toy, tmp_path)
