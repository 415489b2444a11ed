"""Nothing of a test set is in what a shipped network learnt from, but for what `tools/overlaps.json` tells.

To leave that out of a training, name the data as in ``wikiqa/train/apart-wikiqa-test``.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tools import overlaps

from demur.data import pools

ROOT = Path(__file__).parents[2]
AGAIN = "if that is meant, python -m tools.overlaps writes it down"


def names() -> set[str]:
    return {name for data in overlaps.named().values() for name in data}


def test_the_file_tells_of_all_data_of_recipes() -> None:
    kept = overlaps.kept()
    assert set(kept["data"]) == names(), AGAIN
    assert set(kept["test sets"]) == set(overlaps.TESTED), AGAIN
    assert set(kept["together"]) == {*overlaps.NETWORKS, *overlaps.CALIBRATED}


def test_no_recipe_names_a_test_set() -> None:
    assert [name for name in names() if name.startswith(overlaps.TESTED)] == []


def test_every_test_set_that_a_table_reports_on_is_looked_for() -> None:
    reported = set[str]()
    for path in (ROOT / "experiments").rglob("*.toml"):
        for column in tomllib.loads(path.read_text("utf-8")).get("column", []):
            reported.update(name.strip() for name in column.get("data", "").split("+"))
    squad = {name for name in reported if name.startswith("squad/") and "/train/" not in name}
    tests = {name for name in reported if "test" in name or name.startswith("example/")} | squad
    assert len(tests) > 10
    assert {name for name in tests if not name.startswith(overlaps.TESTED)} == set()


@pytest.mark.extras
def test_what_was_calibrated_is_what_the_tools_name() -> None:
    from tools import chance_data, make_ask_gate, make_mini

    mini, asking = overlaps.CALIBRATED.values()
    assert set(mini) == {*make_mini.HELD, *make_mini.DEVS, make_mini.BOOKS}
    named = (*chance_data.LEARN, *chance_data.FAQ_LEARN, *make_ask_gate.FAQS, *make_ask_gate.DATA[1:])
    wholes = {each.partition(chance_data.AS_FAQ)[0].partition(",")[0] for each in named}
    assert wholes <= set(asking) and set(asking) - wholes == {make_mini.HELD[1], "written FAQs/gate"}


@pytest.mark.data
@pytest.mark.slow
def test_what_is_shared_with_test_sets_is_what_the_file_tells() -> None:
    assert overlaps.untold(names(), overlaps.kept()["data"]) == [], AGAIN


@pytest.mark.data
@pytest.mark.slow
def test_the_ranker_that_readers_begin_from_met_what_is_held_out_and_has_an_answer() -> None:
    """As the tables of readers and the page on asking say."""
    met = {pool.id for pool in pools("squad-t/train/sample-20000-seed-0").stream()}
    held = list(pools("squad/2.0/train/held").stream())
    assert {pool.id for pool in held if pool.positives} <= met
    assert met.isdisjoint(pool.id for pool in held if not pool.positives)


@pytest.mark.data
def test_a_recipe_that_adds_something_of_a_test_set_is_noticed(tmp_path: Path) -> None:
    recipe = tmp_path / "mini.toml"
    recipe.write_text('trainer = "mini"\n[[stage]]\ndata = "trecqa/train + trecqa/test/sample-9"\n')
    said = overlaps.untold(overlaps.learnt_by(recipe), overlaps.kept()["data"])
    assert len(said) == 1 and "trecqa/test/sample-9 shares" in said[0] and "'questions': 9" in said[0]


@pytest.mark.data
def test_what_is_set_apart_shares_nothing() -> None:
    name = "wikiqa/train/apart-wikiqa-test"
    shares = overlaps.counted(overlaps.found([name, "wikiqa/train"], ["wikiqa/test"]))
    assert shares["wikiqa/train"] and not shares[name]
    assert 0 < len(pools("wikiqa/train")) - len(pools(name)) < 60
