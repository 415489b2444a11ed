"""What a perturbation costs, and whether it costs the baseline as much."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demur.errors import UsageError
from demur.evaluation.comparison.significance import holm, permutation
from demur.experiments.pages import losses, markdown
from demur.experiments.recipe import Column, Loss, Published, Stage
from demur.experiments.tables import Cell
from experiments.pages.kept import POOLS, keep, table

DATA = "example/questions"
COLUMNS = [
    Column("plain", DATA, train="a"),
    *(Column(f"slips {draw}", DATA, train="a") for draw in range(2)),
    Column("noise", DATA, train="b"),
]
LOSS = [Loss("slips", "plain", ["slips 0", "slips 1"]), Loss("noise", "plain", ["noise"])]
TABLE = table(["TANDA", "SCAN"], COLUMNS, LOSS)
HIGH = [0.9] * POOLS
SOME = [0.4 + 0.02 * number for number in range(POOLS)]


def told(results: Path) -> dict[tuple[str, str], Cell]:
    return {(cell.row, cell.column): cell for cell in losses.cells(TABLE, results)}


def lower(by: float) -> list[float]:
    """Less than `HIGH` by so much on average, and by another amount in each pool."""
    return [0.9 - by - 0.01 * (number % 3 - 1) for number in range(POOLS)]


def test_a_loss_is_plain_less_perturbed_and_compared_pool_by_pool(tmp_path: Path) -> None:
    for row, by in (("TANDA", 0.1), ("SCAN", 0.3)):
        keep(tmp_path, TABLE, row, "plain", HIGH)
        keep(tmp_path, TABLE, row, "slips 0", lower(by))
        keep(tmp_path, TABLE, row, "slips 1", lower(by + 0.1))
        keep(tmp_path, TABLE, row, "noise", SOME)
    found = told(tmp_path)
    own, more = found["SCAN", "lost: slips"], found["SCAN", "lost more: slips"]
    assert own.mean == pytest.approx(0.35) and found["TANDA", "lost: slips"].mean == pytest.approx(0.15)
    assert own.low is not None and own.high is not None and own.low < 0.35 < own.high
    assert more.mean == pytest.approx(0.2) and (own.p, ("TANDA", "lost more: slips") in found) == (
        None,
        False,
    )
    assert found["SCAN", "lost more: noise"].mean == pytest.approx(0)
    raw = [permutation(np.array(each), draws=20_000) for each in ([0.2] * POOLS, [0.0] * POOLS)]
    assert [more.p, found["SCAN", "lost more: noise"].p] == pytest.approx(holm(raw))
    values = losses.values(TABLE, more, tmp_path)
    assert set(values) == {f"q{number}" for number in range(POOLS)}
    assert sum(values.values()) / POOLS == pytest.approx(0.2)
    assert (
        losses.phrase(TABLE, more) == "0.200 more than TANDA (0.200 to 0.200; one seed, 2 draws; significant)"
    )


def test_a_perturbed_test_set_counts_where_the_same_network_ranked_it(tmp_path: Path) -> None:
    for row in ("TANDA", "SCAN"):
        keep(tmp_path, TABLE, row, "plain", HIGH, network="old")
        keep(tmp_path, TABLE, row, "slips 0", lower(0.1), network="old")
        keep(tmp_path, TABLE, row, "slips 1", lower(0.5), network="old" if row == "TANDA" else "new")
        keep(tmp_path, TABLE, row, "noise", lower(0.2), network="another, as it learnt from other labels")
    found = told(tmp_path)
    assert found["TANDA", "lost: slips"].mean == pytest.approx(0.3), "both draws"
    assert found["SCAN", "lost: slips"].mean == pytest.approx(0.1), "the first alone"
    more = found["SCAN", "lost more: slips"]
    assert more.mean == pytest.approx(0) and more.note == "1 of 2 draws", "by the draws that both have"
    assert found["SCAN", "lost: noise"].mean == pytest.approx(0.2)


def test_seeds_that_both_have_are_compared_and_counted(tmp_path: Path) -> None:
    for row, seeds in (("TANDA", [0, 1]), ("SCAN", [1, 2])):
        for seed in seeds:
            keep(tmp_path, TABLE, row, "plain", HIGH, seed)
            keep(tmp_path, TABLE, row, "noise", lower(0.1 * (1 + seed)), seed)
    more = told(tmp_path)["SCAN", "lost more: noise"]
    assert more.seeds == 1 and more.mean == pytest.approx(0)
    assert told(tmp_path)["SCAN", "lost: noise"].seeds == 2
    keep(tmp_path, TABLE, "TANDA", "plain", HIGH, 2)
    keep(tmp_path, TABLE, "TANDA", "noise", lower(0.4), 2)
    more = told(tmp_path)["SCAN", "lost more: noise"]
    assert more.seeds == 2 and more.mean == pytest.approx(-0.05)
    assert "0.050 less than TANDA (−0.050 to −0.050; 2 seeds; significant)" in losses.phrase(TABLE, more)


def test_a_difference_that_is_not_told_apart_is_said_so(tmp_path: Path) -> None:
    for row, noise in (("TANDA", SOME), ("SCAN", SOME[::-1])):
        keep(tmp_path, TABLE, row, "plain", HIGH)
        keep(tmp_path, TABLE, row, "noise", noise)
    more = told(tmp_path)["SCAN", "lost more: noise"]
    assert more.low is not None and more.high is not None and more.low < 0 < more.high
    assert losses.phrase(TABLE, more).endswith("; one seed; not told apart)")


def test_a_section_shows_what_is_lost_and_nothing_of_rows_that_were_not_run(tmp_path: Path) -> None:
    keep(tmp_path, TABLE, "TANDA", "plain", HIGH)
    keep(tmp_path, TABLE, "TANDA", "noise", lower(0.2))
    section = markdown.section(TABLE, tmp_path)
    assert "### What is lost in MAP, convention `fixed`" in section
    shown = section.partition("What is lost")[2].partition("The plain column")[0]
    assert "| TANDA | – | 0.200 <sub>" in shown and "SCAN" not in shown


def test_what_the_paper_lost_is_worked_out_of_its_figures(tmp_path: Path) -> None:
    printed = [
        Published("TANDA", "MAP", "scan", {"plain": 0.8, "slips 0": 0.7, "slips 1": 0.6, "noise": 0.5}),
        Published("SCAN", "MAP", "scan", {"plain": 0.9, "slips 0": 0.6}),
    ]
    said = table(["TANDA", "SCAN"], COLUMNS, LOSS, published=printed)
    found = {(cell.row, cell.column): cell.published for cell in losses.cells(said, tmp_path)}
    assert found["TANDA", "lost: slips"] == pytest.approx(0.15)
    assert found["SCAN", "lost more: slips"] == pytest.approx(0.15)
    assert (found["SCAN", "lost: noise"], found["SCAN", "lost more: noise"]) == (None, None)


def test_a_loss_names_columns_of_the_table() -> None:
    with pytest.raises(UsageError, match="a loss names 'typos', which is not a column"):
        table(["TANDA"], COLUMNS, [Loss("slips", "plain", ["typos"])])


def test_the_network_is_known_by_its_weights_or_else_by_what_dev_said(tmp_path: Path) -> None:
    """One recipe may have come to two networks: only what the weights lose themselves is a loss."""
    first, again = {"stages": ["start", "one"]}, {"stages": ["start", "two"]}
    keep(tmp_path, TABLE, "TANDA", "plain", HIGH, epochs=[[[1, 0.7]]])
    keep(tmp_path, TABLE, "TANDA", "slips 0", lower(0.1), epochs=[[[1, 0.7]]])
    keep(tmp_path, TABLE, "TANDA", "slips 1", lower(0.5), epochs=[[[1, 0.8]]])
    keep(tmp_path, TABLE, "SCAN", "plain", HIGH, model_hashes=first)
    keep(tmp_path, TABLE, "SCAN", "slips 0", lower(0.2), model_hashes=first, epochs=[[[1, 0.7]]])
    keep(tmp_path, TABLE, "SCAN", "slips 1", lower(0.5), model_hashes=again)
    found = told(tmp_path)
    assert found["TANDA", "lost: slips"].mean == pytest.approx(0.1)
    assert found["SCAN", "lost: slips"].mean == pytest.approx(0.2)


def test_other_labels_count_where_training_began_from_the_same_weights(tmp_path: Path) -> None:
    two = replace(TABLE, row=[replace(row, stage=[Stage("squad"), *row.stage]) for row in TABLE.row])

    def lost(*stages: str) -> float | None:
        more = {"model_hashes": {"stages": list(stages)}} if stages else {}
        keep(tmp_path, two, "SCAN", "noise", lower(0.3), 0, "", **more)
        [found] = [
            one for one in losses.cells(two, tmp_path) if (one.row, one.column) == ("SCAN", "lost: noise")
        ]
        return found.mean

    keep(tmp_path, two, "SCAN", "plain", HIGH)
    assert lost() is None, "of neither it is known"
    keep(tmp_path, two, "SCAN", "plain", HIGH, model_hashes={"stages": ["start", "one"]})
    assert lost() is None, "of one it is not known"
    assert lost("another", "noisy") is None
    assert lost("", "noisy") is None
    assert lost("start", "noisy") == pytest.approx(0.3)
