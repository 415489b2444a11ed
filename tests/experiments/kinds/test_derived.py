"""Figures worked out of kept answers: excess over the oracle, gains over questions and seeds, and marks."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demur.evaluation.intervals import Estimate, estimates
from demur.evaluation.readers import over_silence
from demur.evaluation.selective.measures import AURC, EAURC
from demur.experiments import recipe
from demur.experiments.kinds import KINDS, Figure, derived
from demur.experiments.kinds.answer_figures import gains
from demur.experiments.pages import marks
from demur.experiments.recipe import Table
from demur.experiments.tables import Cell
from demur.risk import Predictions
from demur.types import FloatArray

COUNT = 600
IDS = tuple(map(str, range(COUNT)))


def drawn(seed: int, spread: float, levels: int = 0) -> tuple[FloatArray, FloatArray]:
    """Answers of which two in three are right, and how sure they are: more where right, perhaps tied."""
    generator = np.random.default_rng(7)
    right = generator.uniform(size=COUNT) < 0.66
    sure = right + spread * np.random.default_rng(seed).normal(size=COUNT)
    return (np.round(sure * levels) / levels if levels else sure), (~right).astype(np.float64)


@pytest.mark.parametrize("levels", [0, 2])
def test_influence_is_what_one_more_answer_does(levels: int) -> None:
    sure, wrong = drawn(0, 1.0, levels)
    found = derived.influence(sure, wrong)
    assert found.sum() == pytest.approx(0, abs=1e-6), "all of them once more change nothing"
    whole = AURC.of(sure, wrong)
    for place in (0, 17, 300, 599):
        more = AURC.of(np.append(sure, sure[place]), np.append(wrong, wrong[place]))
        assert (more - whole) * (COUNT + 1) == pytest.approx(found[place], abs=0.03)


def test_intervals_are_those_of_resampling() -> None:
    (weak, wrong), (strong, _) = drawn(0, 2.0), drawn(1, 0.7)
    every = np.ones(COUNT, np.bool_)
    base, ours = (Predictions(IDS, sure, wrong == 0, every, every) for sure in (weak, strong))
    told = gains(["gain E-AURC"], base, ours)["gain E-AURC"]
    parts = [derived.excess(sure, wrong, IDS, COUNT) for sure in (weak, strong)]
    found = derived.together([derived.share(*parts)])
    assert told is not None and None not in told
    assert found.mean == pytest.approx(1 - EAURC.of(strong, wrong) / EAURC.of(weak, wrong))
    assert (found.mean, found.low, found.high) == pytest.approx(told, abs=0.02)
    alone = derived.together([derived.share(parts[0], parts[0])])
    assert (alone.mean, alone.low, alone.high) == (0, 0, 0), "both are moved together"


def test_seeds_widen_what_questions_leave_open() -> None:
    (weak, wrong) = drawn(0, 2.0)
    base = derived.excess(weak, wrong, IDS, COUNT)
    one, two, three = (
        derived.share(base, derived.excess(drawn(seed, spread)[0], wrong, IDS, COUNT))
        for seed, spread in ((1, 0.6), (2, 0.8), (3, 1.0))
    )
    single, same, apart = (derived.together(parts) for parts in ([two], [two] * 3, [one, two, three]))
    assert (same.low, same.high) == pytest.approx((single.low, single.high)), "a question counts once"
    spread = np.std([one.mean, two.mean, three.mean], ddof=1) / 3**0.5
    assert apart.high is not None and apart.high - apart.mean > 4.3 * spread
    others = dataclasses.replace(two, ids=tuple(f"other {name}" for name in IDS))
    both = derived.together([two, others])
    assert both.high is not None and single.high is not None
    assert both.high - both.mean == pytest.approx((single.high - single.mean) / 2**0.5), "twice the questions"
    assert Figure(0.5, None, None, 9).over([0.4, 0.6]) == Figure(0.5, None, None, 9)
    figure = Figure(0.5, 0.4, 0.7, 9)
    assert figure.over([0.5]) == figure == figure.over([0.5, 0.5])


def test_silence_is_the_paired_bootstrap_over_questions() -> None:
    found = over_silence(300, 250, 1000)
    column = np.repeat([1.0, -1.0, 0.0], [300, 250, 450])[:, None]
    (told,) = estimates(column, method="percentile")
    assert (found.mean, found.low, found.high) == pytest.approx((0.05, told.low, told.high), abs=0.002)
    assert over_silence(0, 0, 10) == Estimate(0, 0, 0)


RECIPE = """
kind = "quoting"
paper = "toy"
table = "readers"
title = "A table"
measures = ["EM", "HasAns-EM", "NoAns-EM"]
conventions = ["squad-2.0"]
differs = "Everything."
column = [{ name = "ships", data = "x" }]

[[row]]
name = "good"
reader = "a"

[[row]]
name = "silent"
title = "Theirs: silent"
reader = "b"

[[row]]
name = "not run"
reader = "c"
"""


def put(results: Path, name: str, right: int, misled: int) -> None:
    """What is kept of a reader: of 1,000 questions half have an answer."""
    em = (right + 500 - misled) / 1000
    figures = {"EM": [em, em, em], "HasAns-EM": [right / 500] * 3, "NoAns-EM": [1 - misled / 500] * 3}
    file = results / "toy" / "readers" / name / "ships-seed0.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"reader": name, "pools": 1000, "figures": figures}))


@pytest.fixture
def table(tmp_path: Path) -> Table:
    (tmp_path / "table.toml").write_text(RECIPE)
    return recipe.read_recipe(tmp_path / "table.toml")


def test_a_reader_that_is_not_surely_better_than_silence_is_marked(table: Table, tmp_path: Path) -> None:
    """200 right answers and 100 to what has none are surely better; 100 and 95 are not, though more."""
    put(tmp_path, "good", 200, 100)
    put(tmp_path, "silent", 100, 95)
    found = marks.silent(table, table.column[0], tmp_path)
    assert set(found) == {"silent"} and found["silent"].mean == pytest.approx(0.005)
    assert found["silent"].low < 0 < found["silent"].high
    (note,) = marks.footnotes(table, [], found)
    assert "Theirs +0.005 (-0.0" in note and "†" in note
    assert marks.footnotes(table, [], {}) == []


def test_the_counts_behind_em_are_found_again() -> None:
    kind: Any = KINDS["quoting"]
    one = {"pools": 1000, "figures": {"EM": [0.5], "HasAns-EM": [0.4], "NoAns-EM": [0.6]}}
    assert kind.outcomes([one]) == (200, 200, 1000)
    for figures in ({"EM": [0.5]}, {"EM": [0.5], "HasAns-EM": [0.5], "NoAns-EM": [0.5]}):
        assert kind.outcomes([{"pools": 10, "figures": figures}]) is None, "these do not tell"
    assert kind.outcomes([]) is None
    reading = {"pools": 12, "figures": {"AD+": [5, None, None], "UD": [3, None, None]}}
    assert KINDS["reading"].outcomes([reading]) == (5, 3, 12)
    assert KINDS["ranking"].outcomes([{"pools": 12}]) is None


def cell(**more: Any) -> Cell:
    facts: dict[str, Any] = {"table": "t", "row": "r", "column": "c", "measure": "gain AURC", "note": ""}
    facts |= {"convention": "x", "mean": 0.2, "low": 0.1, "high": 0.3, "published": None, "pools": 9}
    return Cell(**{**facts, "seeds": 3, "readers": 3, **more})


def test_methods_are_told_apart_only_by_several_readers() -> None:
    assert marks.gained(cell()) == " ▲" and marks.gained(cell(low=-0.3, high=-0.1)) == " ▼"
    for more in ({"readers": 1}, {"low": -0.1}, {"measure": "AURC"}, {"low": None, "high": None}):
        assert marks.gained(cell(**more)) == ""
    assert marks.counted(cell()) == ", 3 seeds, 3 readers"
    assert marks.counted(cell(seeds=1, readers=1)) == ", 1 reader"
    assert marks.counted(cell(seeds=1, readers=0)) == "" == marks.counted(cell(seeds=0, readers=0))
    for said in ({"wanted": 3}, {"learns": True}):
        assert marks.counted(cell(seeds=1, readers=0, **said)) == ", 1 seed"
