"""Which orders of a paper hold, are reversed, and are not told apart."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from demur.evaluation.comparison.significance import holm, permutation
from demur.experiments import tables
from demur.experiments.pages import rankings
from demur.experiments.pages.rankings import APART, HOLDS, REVERSED
from demur.experiments.recipe import Column, Published, Row, Stage, Table
from experiments.pages.kept import POOLS, keep, printed, table

PLAIN = [Column("plain", "example/questions", train="a")]
NAMES = ["TANDA", "SCAN", "BERT", "RE2"]
PAPER = printed(TANDA=0.8, SCAN=0.9, BERT=0.7, RE2=0.6)


def of(names: list[str] = NAMES, published: list[Published] = PAPER, columns: list[Column] = PLAIN) -> Table:
    """A table with what the paper printed."""
    return table(names, columns, published=published)


def around(mean: float, turn: int = 0) -> list[float]:
    """Figures of pools that differ, by another pattern at another turn."""
    return [mean + 0.01 * ((number + turn) % 5 - 2) for number in range(POOLS)]


def outcomes(ranking: rankings.Ranking) -> dict[tuple[str, str], str]:
    return {(each.above.name, each.below.name): each.outcome for each in ranking.orders}


def test_orders_hold_are_reversed_or_are_not_told_apart(tmp_path: Path) -> None:
    ours = {"SCAN": around(0.5), "TANDA": around(0.5, 1), "BERT": around(0.7), "RE2": around(0.2)}
    for row, figures in ours.items():
        keep(tmp_path, of(), row, "plain", figures)
    [ranking] = rankings.rankings(of(), tmp_path)
    assert [each.name for each in ranking.places] == ["SCAN", "TANDA", "BERT", "RE2"], "as the paper has them"
    assert outcomes(ranking) == {
        ("SCAN", "TANDA"): APART,
        ("SCAN", "BERT"): REVERSED,
        ("TANDA", "BERT"): REVERSED,
        ("SCAN", "RE2"): HOLDS,
        ("TANDA", "RE2"): HOLDS,
        ("BERT", "RE2"): HOLDS,
    }
    assert ranking.counts == [3, 2, 1]
    raw = [
        permutation(np.round(np.array(one) - np.array(other), 12), draws=20_000)
        for one, other in (
            (around(0.5), around(0.5, 1)),
            (around(0.5), around(0.7)),
            (around(0.5), around(0.2)),
            (around(0.5, 1), around(0.7)),
            (around(0.5, 1), around(0.2)),
            (around(0.7), around(0.2)),
        )
    ]
    assert [each.p for each in ranking.orders] == pytest.approx(holm(raw), rel=0.02), "signs are drawn"
    said = rankings.block([of()], tmp_path)
    assert "| [table1](#table1) | 22M | 4 | 0.00 | 3 | 2 | 1 |" in said
    assert "- hold: SCAN > RE2¹; TANDA > RE2¹; BERT > RE2¹" in said
    assert "- reversed: SCAN > BERT¹; TANDA > BERT¹" in said and "- not told apart: SCAN > TANDA¹" in said
    assert "| BERT | *0.700* | 3 | 0.699 | 1 | 22M, one seed |" in said


def test_what_the_paper_has_level_is_no_order_and_ranks_are_shared(tmp_path: Path) -> None:
    level = of(published=printed(TANDA=0.8, SCAN=0.8, BERT=0.7))
    for row, mean in (("TANDA", 0.2), ("SCAN", 0.3), ("BERT", 0.4)):
        keep(tmp_path, level, row, "plain", [mean] * POOLS)
    [ranking] = rankings.rankings(level, tmp_path)
    assert outcomes(ranking) == {("TANDA", "BERT"): REVERSED, ("SCAN", "BERT"): REVERSED}
    said = rankings.block([level], tmp_path)
    assert (
        "| SCAN | *0.800* | 1 | 0.300 | 2 |" in said
        and "- reversed: all 2¹" in said
        and "- hold: none" in said
    )
    assert ranking.tau.startswith("−0.8")


def test_seeds_that_both_have_are_compared_and_seeds_that_differ_are_marked(tmp_path: Path) -> None:
    for seed, means in enumerate([(0.7, 0.5, 0.3), (0.5, 0.6, 0.2)]):
        for row, mean in zip(("SCAN", "TANDA", "BERT"), means, strict=True):
            keep(tmp_path, of(), row, "plain", [mean] * POOLS, seed)
    keep(tmp_path, of(), "TANDA", "plain", [1.0] * POOLS, 2)
    [ranking] = rankings.rankings(of(), tmp_path)
    by_pair = {(each.above.name, each.below.name): each for each in ranking.orders}
    close, apart = by_pair["SCAN", "TANDA"], by_pair["SCAN", "BERT"]
    assert close.differences == pytest.approx([0.2, -0.1]) and close.outcome == HOLDS, "0.6 against 0.55"
    assert (close.mark, apart.mark) == ("²", "")
    assert "| TANDA | *0.800* | 2 | 0.700 | 1 | 22M, 3 seeds |" in rankings.block([of()], tmp_path)


def test_networks_of_another_size_are_ranked_apart_beside_the_same_figures(tmp_path: Path) -> None:
    large = of([*NAMES, "TANDA, 110M", "SCAN, 110M", "RoBERTa"], [*PAPER, *printed(RoBERTa=0.75)])
    rows = [
        dataclasses.replace(row, trainer="cross-encoder(base=mpnet)") if place > 3 else row
        for place, row in enumerate(large.row)
    ]
    large = dataclasses.replace(large, row=rows)
    for place, row in enumerate(large.row):
        keep(tmp_path, large, row.name, "plain", [0.9 - place / 10] * POOLS)
    small, other = rankings.rankings(large, tmp_path)
    assert (small.network, other.network) == ("22M", "110M")
    assert [(each.name, each.published) for each in other.places] == [
        ("SCAN", 0.9),
        ("TANDA", 0.8),
        ("RoBERTa", 0.75),
    ]
    assert len(small.places) == 4 and other.tau == "0.33"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (Row("a", trainer="scan", stage=[Stage("train", trainer="cross-encoder(base=mpnet)")]), "110M"),
        (Row("a", trainer="cross-encoder(base=mpnet, quick=true)", stage=[Stage("train")]), "110M"),
        (Row("a", trainer="cross-encoder", stage=[Stage("train")]), "22M"),
        (Row("a", trainer='re2(vectors="{words}")', stage=[Stage("train")]), "word vectors"),
        (Row("a", ranker="bm25"), "other"),
    ],
)
def test_a_network_is_known_by_its_trainers(row: Row, said: str) -> None:
    assert rankings.network(row) == said


def test_columns_over_the_same_questions_are_ranked_together(tmp_path: Path) -> None:
    columns = [*PLAIN, Column("noise", "example/questions", train="b"), Column("other", "example/questions")]
    figures = {"plain": 0.9, "noise": 0.8, "other": 0.7}
    said = of(
        ["TANDA", "SCAN"],
        [Published(row, "MAP", "scan", figures) for row in ("TANDA", "SCAN")],
        columns=columns,
    )
    for row in ("TANDA", "SCAN"):
        for column, pools in (("plain", POOLS), ("noise", POOLS), ("other", POOLS - 1)):
            keep(tmp_path, said, row, column, [figures[column]] * pools)
    together, apart = rankings.rankings(said, tmp_path)
    assert [each.name for each in together.places] == [
        "TANDA (plain)",
        "SCAN (plain)",
        "TANDA (noise)",
        "SCAN (noise)",
    ]
    assert [each.name for each in apart.places] == ["TANDA", "SCAN"] and len(together.orders) == 4


def test_few_rows_are_not_ranked_and_rows_without_figures_are_left_out(tmp_path: Path) -> None:
    for row in ("TANDA", "SCAN", "RE2"):
        keep(tmp_path, of(), row, "plain", around(0.5))
    two = of(published=printed(TANDA=0.8, SCAN=0.9))
    said = rankings.block([two], tmp_path)
    assert "With our network of 22M too few rows have both figures to rank: SCAN and TANDA." in said
    assert "(#table1)" not in said and "BERT" not in said and "RE2" not in said


def test_a_row_is_called_what_it_is_and_not_whose_place_it_takes(tmp_path: Path) -> None:
    plain = of()
    titled = dataclasses.replace(
        plain,
        row=[
            dataclasses.replace(row, title="MiniLM, in BERT's place" if row.name == "BERT" else "")
            for row in plain.row
        ],
    )
    for row in NAMES:
        keep(tmp_path, titled, row, "plain", around(0.5))
    assert "| MiniLM, in BERT's place |" in rankings.block([titled], tmp_path)
    assert {cell.row: cell.title for cell in tables.cells(titled, tmp_path)} == {
        "SCAN": "SCAN",
        "TANDA": "TANDA",
        "BERT": "MiniLM, in BERT's place",
        "RE2": "RE2",
    }
