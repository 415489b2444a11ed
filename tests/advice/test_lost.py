"""The table of what advice loses: it is what the tool makes of the results, and holds what the pages say."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from tools import advised

from demur.advice.deciding import evidence
from demur.advice.deciding.rules import RULES

MADE: dict[str, Any] = json.loads(advised.LOST.read_text("utf-8"))
VALUES = advised.kept_values()
OURS, BEFORE = next(iter(RULES)), list(RULES)[-1]


def mean(rule: str, name: str, size: int) -> float:
    return float(MADE["lost"][rule][name][str(size)]["mean"])


def test_it_is_of_the_results_the_evidence_and_the_rules_as_they_are() -> None:
    assert MADE["of"] == advised.fingerprint(VALUES, evidence.packaged()), "python -m tools.advised"
    assert len(VALUES) >= 6 and set(VALUES) == set(advised.SETS)
    assert all(cell["replays"] >= 200 for cell in advised._cells(MADE))


@pytest.mark.parametrize("name", ["TrecQA", "Yahoo CQA"])
def test_a_cell_comes_again(name: str) -> None:
    leads = advised.leads_for(name, VALUES[name], evidence.packaged())
    for rule in (OURS, "the best mean"):
        found = advised.lost(VALUES[name], leads, rule, 20, advised.REPLAYS, MADE["seed"])
        assert float(found.mean()) == pytest.approx(mean(rule, name, 20), abs=1e-5)


def test_the_goal_is_nearly_kept_and_more_labels_lose_less() -> None:
    sizes = advised.SIZES
    for name in VALUES:  # it is missed on WikiQA, and the page says so
        assert mean(OURS, name, 20) <= advised.GOAL + 0.003 * (name == "WikiQA"), name
        losses = [mean(OURS, name, size) for size in sizes]
        assert all(more <= fewer + 0.003 for fewer, more in pairwise(losses)), name
    overall = [sum(mean(OURS, name, size) for name in VALUES) for size in sizes]
    assert overall == sorted(overall, reverse=True)


@pytest.mark.parametrize("size", advised.SIZES)
def test_it_loses_less_on_average_than_the_rule_before(size: int) -> None:
    ours, before = (sum(mean(rule, name, size) for name in VALUES) for rule in (OURS, BEFORE))
    assert ours < before


def test_a_set_is_no_evidence_about_itself() -> None:
    name = "SelQA"
    known = evidence.packaged()
    changed = {
        **{each.name: each for each in known.datasets},
        name: evidence.Dataset(name, known.datasets[0].profile, {}, {}, None),
    }
    other = evidence.Evidence(tuple(changed.values()))
    assert advised.leads_for(name, VALUES[name], known) == advised.leads_for(name, VALUES[name], other)
    assert advised.leads_for("TrecQA", VALUES[name], known) != advised.leads_for(
        "TrecQA", VALUES[name], other
    )


def test_the_page_says_whether_the_goal_is_met() -> None:
    page = advised.page()
    assert page.count("## MAP lost with") == 3
    said = "By its mean the first rule, that of `demur advise`, misses it on WikiQA. Of the other rules"
    assert said in page
    lost = json.loads(advised.LOST.read_text("utf-8"))["lost"]
    for rule, sets in list(lost.items())[1:]:
        meets = all(sizes[str(advised.AT)]["mean"] <= advised.GOAL for sizes in sets.values())
        assert (f"*{rule}*" in page.split("these meet it on all:")[1].split("\n")[0]) == meets
    for rule in RULES:
        assert page.count(f"| {rule} |") == 3
    assert "| mini + encoder |" in page
