"""Tables of gates and of published answers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from demur.data import formats
from demur.errors import DemurError
from demur.experiments import recipe, tables
from demur.experiments.kinds.agreement import agreement, predicted
from demur.experiments.kinds.halves import MEASURES, Figure, Promise, tried
from demur.experiments.recipe import Table
from demur.risk import Predictions
from demur.types import Pool


def drawn(count: int, risk: float = 0.0, seed: int = 0) -> Predictions:
    """Answers that are the surer the righter, wrong from 0 to 40 % of the time; or always with one risk."""
    generator = np.random.default_rng(seed)
    confidence = generator.uniform(size=count)
    wrong = generator.uniform(size=count) < (risk or 0.4 * (1 - confidence))
    every = np.ones(count, np.bool_)
    return Predictions(tuple(map(str, range(count))), confidence, ~wrong, every, every)


def figures(
    predictions: Predictions, method: str, risk: float = 0.1, splits: int = 60
) -> dict[str, Figure | None]:
    return tried(predictions, Promise(risk, 0.95, splits), method, grid=np.linspace(0, 1, 51))


def mean(found: dict[str, Figure | None], measure: str) -> float:
    figure = found[measure]
    assert figure is not None
    assert figure[1] <= figure[0] <= figure[2]
    return figure[0]


def test_the_gate_keeps_its_promise_and_the_naive_rule_does_not() -> None:
    predictions = drawn(4000)
    gate, naive = figures(predictions, "ltt"), figures(predictions, "naive")
    assert mean(gate, "violations") <= 0.05 and mean(naive, "violations") > 0.2
    assert 0.2 < mean(gate, "coverage") < mean(naive, "coverage") < 0.6, "half of them have a risk of 10 %"
    assert 0.05 < mean(gate, "risk") < mean(naive, "risk") < 0.12
    assert mean(gate, "abstains") == 0 and set(gate) == set(MEASURES)


def test_where_nothing_can_be_certified_it_says_so() -> None:
    found = figures(drawn(400, risk=0.5), "ltt")
    assert (mean(found, "abstains"), mean(found, "coverage"), mean(found, "violations")) == (1, 0, 0)
    assert found["risk"] is None


def test_only_predicted_answers_are_calibrated_on_and_covered() -> None:
    full = drawn(2000)
    half = np.arange(2000) % 2 == 0
    confidence = np.where(half, full.confidence, np.nan)
    silent = Predictions(full.ids, confidence, full.correct & half, full.answerable, half)
    found = figures(silent, "ltt", risk=0.2)
    assert mean(found, "answered") == pytest.approx(mean(found, "coverage") / 2, rel=0.05)


def test_agreement_of_systems() -> None:
    given, others = ["the ape", "", "red ship"], [["Ape!", "", "ship"], ["bee", "x", "red ship"]]
    assert agreement(given, others, "votes").tolist() == [0.5, 0.5, 0.5]
    assert agreement(given, others, "overlap").tolist() == pytest.approx([0.5, 0.5, (2 / 3 + 1) / 2])
    with pytest.raises(DemurError, match="two systems or more"):
        agreement(given, [], "votes")


def test_outcomes_of_answers_to_squad() -> None:
    golds = [["Ape"], ["Ape"], ["Ape"], [], []]
    pools = [
        Pool(str(n), "?", (), {"answers": [{"text": text} for text in gold]}) for n, gold in enumerate(golds)
    ]
    found = predicted(pools, ["the ape", "bee", "", "bee", "the"], np.zeros(5))
    assert found.outcomes() == {"AD+": 1, "AD-": 1, "AN": 1, "UD": 1, "UN": 1}


AGREEMENT = """
kind = "agreement"
paper = "toy"
table = "answers"
title = "A table"
measures = ["EM", "AD+", "risk", "AUROC", "Coverage(threshold=1.0)", "certified coverage@0.2"]
conventions = ["exact match"]
splits = 4
confidence = 0.9
differs = "Everything."

[[column]]
name = "squad"
data = "{folder}/data.jsonl"

[[row]]
name = "one"
answers = "{folder}/one.json"
agreement = "votes"

[[row]]
name = "other"
answers = "{folder}/other.json"
agreement = "overlap"
"""


@pytest.fixture
def answers(tmp_path: Path) -> Table:
    pools = [Pool.of("q", ["ape"], [1], id=str(n)) for n in range(8)]
    with_golds = [Pool(p.id, p.question, p.candidates, {"answers": [{"text": "ape"}]}) for p in pools]
    formats.write_pools(tmp_path / "data.jsonl", with_golds)
    said = {"one": ["ape"] * 6 + ["bee", ""], "other": ["ape"] * 4 + ["bee"] * 3 + ["ape"]}
    for name, texts in said.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(dict(zip("01234567", texts, strict=True))))
    (tmp_path / "table.toml").write_text(AGREEMENT.format(folder=tmp_path))
    return recipe.read_recipe(tmp_path / "table.toml")


def test_a_table_of_answers(answers: Table, tmp_path: Path) -> None:
    tables.fill(answers, tmp_path / "results", (), lambda runs: None)
    cells = {(c.row, c.measure): c for c in tables.cells(answers, tmp_path / "results")}
    assert cells["one", "EM"].mean == 0.75 and cells["one", "EM"].pools == 8
    assert (cells["one", "AD+"].mean, cells["one", "AD+"].low) == (6, None), "a count has no interval"
    assert cells["one", "risk"].mean == pytest.approx(1 / 7, abs=1e-6)
    # five agree, one of them wrong; the two that do not are right
    assert cells["one", "Coverage(threshold=1.0)"].mean == pytest.approx(5 / 7)
    assert cells["one", "AUROC"].mean == pytest.approx((4 * 0.5) / 6)
    assert cells["one", "certified coverage@0.2"].mean == 0, "4 questions certify nothing"


def test_a_changed_file_of_answers_makes_every_row_stale(answers: Table, tmp_path: Path) -> None:
    tables.fill(answers, tmp_path / "results", (), lambda runs: None)
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "results").rglob("*.json")}
    other = tmp_path / "other.json"
    other.write_text(other.read_text().replace("bee", "ape"))
    tables.fill(answers, tmp_path / "results", (), lambda runs: None)
    assert len(before) == 2
    assert all(file.stat().st_mtime_ns > time for file, time in before.items())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"AUROC"', '"MAP"', "'MAP' is not a measure of answers"),
        (
            'agreement = "votes"',
            'agreement = "vote"',
            "agreement 'vote' is not known; write votes or overlap",
        ),
    ],
)
def test_recipes_that_mean_nothing_are_one_clear_line(
    answers: Table, tmp_path: Path, old: str, new: str, message: str
) -> None:
    file = tmp_path / "table.toml"
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(DemurError, match=message):
        tables.fill(recipe.read_recipe(file), tmp_path / "results", (), lambda runs: None)
