from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from demur.advice import methods
from demur.advice.deciding.evidence import Evidence, by_evidence, packaged
from demur.advice.deciding.profile import Profile, nearest
from demur.types import Pool

ROOT = Path(__file__).parents[2]
FOUND = importlib.util.spec_from_file_location("make_evidence", ROOT / "tools" / "make_evidence.py")
assert FOUND is not None and FOUND.loader is not None
make_evidence: Any = importlib.util.module_from_spec(FOUND)
FOUND.loader.exec_module(make_evidence)

SHORT, LONG = Profile(10, 8, 20, 0.3), Profile(10, 60, 200, 0.1)


def test_a_profile_is_medians_and_the_mean_overlap() -> None:
    pools = [
        Pool.of("red boat?", ["the red boat", "a boat", "no"], id="a"),
        Pool.of("which green train came?", ["a train came in", "x y z"], id="b"),
        Pool("c", "empty?", ()),
    ]
    found = Profile.of(pools)
    assert (found.pool_size, found.question_words, found.answer_words) == (2.5, 3, 2.75)
    # shares 1, 1/2, 0 and, of green, train and came, 2/3 and 0
    assert found.overlap == pytest.approx((0.5 + 1 / 3) / 2, abs=1e-4)
    assert Profile.of([]) == Profile(0, 0, 0, 0) and "0 candidates" in str(Profile.of([]))


def test_the_nearest_is_the_one_most_alike() -> None:
    others = {"long": LONG, "short": SHORT}
    assert nearest(Profile(9, 9, 25, 0.25), others) == ["short", "long"]
    assert nearest(Profile(12, 50, 150, 0.12), others) == ["long", "short"]
    assert nearest(SHORT, others)[0] == "short"


def evidence(curves: dict[str, Any] | None = None) -> Evidence:
    def dataset(name: str, profile: Profile, **means: float) -> dict[str, Any]:
        figures = {
            key: {"mean": mean, "low": mean - 0.02, "high": mean + 0.02} for key, mean in means.items()
        }
        return {
            "name": name,
            "profile": profile.to_json(),
            "figures": figures,
            "curves": curves or {},
            "without": max(means.values(), default=None),
        }

    rows = [
        dataset("short", SHORT, bm25=0.6, encoder=0.7, fusion=0.71),
        dataset("long", LONG, bm25=0.6, encoder=0.7, forum=0.75),
        dataset("nothing", Profile(10, 8, 20, 0.29)),
    ]
    return Evidence.from_json({"datasets": rows})


METHODS = [method for method in methods.METHODS if not method.labels]


def test_the_simplest_within_the_interval_of_the_best_is_taken() -> None:
    found = by_evidence(Profile(10, 8, 20, 0.29), METHODS, evidence())
    assert found is not None and found.method.name == "encoder" and found.dataset.name == "short"
    found = by_evidence(LONG, METHODS, evidence())
    assert found is not None and found.method.name == "forum"
    only_words = by_evidence(LONG, METHODS[:1], evidence())
    assert only_words is not None and only_words.method.name == "bm25"
    assert by_evidence(LONG, METHODS, Evidence(())) is None


def test_curves_tell_how_many_labels_were_enough() -> None:
    curves = {"siamese": [[10, 0.5], [40, 0.7], [160, 0.9]], "concat": [[10, 0.4], [40, 0.5], [160, 0.6]]}
    found = by_evidence(SHORT, METHODS, evidence(curves))
    assert found is not None and 40 < found.labels < 50


def test_the_packaged_file_is_what_the_tool_makes_of_results() -> None:
    profiles = json.loads(make_evidence.PROFILES.read_text("utf-8"))
    made = make_evidence.make(make_evidence.ROOT / "experiments", make_evidence.RESULTS, profiles)
    assert make_evidence.EVIDENCE.read_text("utf-8") == make_evidence.text(made), (
        "python -m tools.make_evidence"
    )
    assert {each.name for each in packaged().datasets} <= {*make_evidence.COLUMNS.values()}
    taught = [each for each in packaged().datasets if each.name in make_evidence.TAUGHT["mini"]]
    assert taught and not any("mini" in each.figures for each in taught), "it has learnt from their labels"


RECIPE = """
paper = "scarce"
table = "table1"
title = "t"
measures = ["MAP"]
conventions = ["fixed"]
differs = "d"
[[column]]
name = "selqa"
data = "selqa/test"
[[row]]
name = "words"
ranker = "bm25(stem=english)"
[[row]]
name = "dataset words"
ranker = "bm25(stats=dataset)"
"""


def test_the_tool_reads_the_rows_of_our_methods(tmp_path: Path) -> None:
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "table1.toml").write_text(RECIPE, "utf-8")
    profiles = {"selqa/test": SHORT.to_json()}
    empty = make_evidence.make(tmp_path / "experiments", tmp_path / "results", profiles)
    assert empty["datasets"][0]["figures"] == {} and empty["datasets"][0]["without"] is None
    for row, mean in (("words", 0.5), ("dataset-words", 0.9)):
        folder = tmp_path / "results" / "scarce" / "table1" / row
        folder.mkdir(parents=True)
        values = {"MAP": [mean, mean]}
        judged = {
            "values": values,
            "pools": ["a", "b"],
            "skipped": 0,
            "estimates": {"MAP": [mean, 0.4, 0.95]},
        }
        (folder / "selqa-seed0.json").write_text(json.dumps({"conventions": {"fixed": judged}}), "utf-8")
    made = make_evidence.make(tmp_path / "experiments", tmp_path / "results", profiles)
    (dataset,) = made["datasets"]
    assert dataset["figures"] == {"bm25": {"mean": 0.5, "low": 0.4, "high": 0.95}}
    assert dataset["without"] == 0.5 and dataset["name"] == "SelQA"
