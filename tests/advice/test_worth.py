"""What is not tried, as it cannot win, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advice import made
from demur.advice import advise, methods
from demur.advice.deciding import evidence, worth
from demur.advice.deciding.evidence import Evidence
from demur.advice.methods import METHODS, Method
from demur.advice.trials import measuring
from demur.advice.trials.trying import Trying
from demur.data import formats

PROFILE = {"pool_size": 4, "question_words": 3, "answer_words": 3, "overlap": 0.1}
NET = next(method for method in METHODS if method.data)


def known(curves: dict[str, Any] | None = None, **leads: tuple[float, ...]) -> Evidence:
    """Datasets on which methods led the encoder by so much."""
    rows: list[dict[str, Any]] = []
    for place in range(max(map(len, leads.values()), default=1)):
        means = {"encoder": 0.6} | {name: 0.6 + each[place] for name, each in leads.items()}
        figures = {name: {"mean": mean, "low": mean, "high": mean} for name, mean in means.items()}
        rows.append({"name": f"set {place}", "profile": PROFILE, "figures": figures, "curves": {}})
        rows[-1]["without"] = 0.7
    rows[0]["curves"] = curves or {}
    return Evidence.from_json({"datasets": rows})


CURVE = {"siamese": [[10, 0.5], [100, 0.6], [400, 0.9]]}


def test_nets_are_not_tried_with_far_fewer_labels_than_ever_were_enough() -> None:
    needed, where = worth.fewest(known(CURVE))
    assert where == "set 0" and 100 < needed < 400
    assert worth.fewest(known())[1] == "" and worth.too_early(METHODS, 8, known()) == {}
    found = worth.too_early(METHODS, 20, known(CURVE))
    assert set(found) == {method.name for method in METHODS if method.labels}
    assert "20 labels are far too few" in found["siamese"] and "on set 0" in found["siamese"]
    assert worth.too_early(METHODS, int(needed), known(CURVE)) == {}
    assert worth.too_early(METHODS, int(needed / 4) + 1, known(CURVE)) == {}


def test_what_never_led_by_as_much_cannot_win() -> None:
    steady = known(None, **{NET.name: (0.02, 0.03, 0.01)})
    why = worth.beaten(NET, {"bm25": 0.5, "encoder": 0.6, "mini": 0.8}, steady)
    assert (
        why.startswith("cannot be expected to reach mini here: it led encoder by +0.020") and "0.200" in why
    )
    assert worth.beaten(NET, {"bm25": 0.5, "encoder": 0.6, "mini": 0.63}, steady) == ""
    unsteady = known(None, **{NET.name: (-0.2, 0.3, 0.02)})
    assert worth.beaten(NET, {"encoder": 0.6, "mini": 0.8}, unsteady) == ""
    assert worth.beaten(NET, {"encoder": 0.6, "mini": 0.8}, known()) == ""  # nobody measured it
    assert worth.beaten(NET, {}, steady) == ""


def test_what_learns_from_data_that_are_not_here_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMUR_DATA", raising=False)
    why = worth.at_hand(NET)
    assert "squad/train-v1.1.json.gz is not here: demur data show squad" in why and "--also" in why
    assert "recipes/siamese-squad.toml" in why
    assert not any(worth.at_hand(method) for method in METHODS if not method.data)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(methods, "METHODS", made.methods(made.vectors(tmp_path)))
    monkeypatch.setattr(evidence, "packaged", lambda: known(CURVE, bm25=(-0.1, -0.1)))
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.extras
def test_with_few_labels_advice_tries_no_net_and_says_why(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(measuring, "cost", lambda ranker, pools, timeout: asked.append(ranker.name))
    found = advise(made.pools(12, by_words=False), 600)
    assert [row.judged.name for row in found.rows] == ["bm25", "average"]
    assert [trial.method.name for trial in found.skipped] == ["siamese", "siamese + bm25"]
    assert all("12 labels are far too few" in trial.skipped for trial in found.skipped)
    assert found.labels.startswith("on set 0 it took about")
    assert found.method.name == "average" and asked == ["average"], (
        "of what is far behind nobody asks the cost"
    )
    own = f"train {methods.METHODS[2].spec}"
    named = advise(made.pools(12, by_words=True), 600, more=[own])
    assert [row.judged.name for row in named.rows][-1] == own.removeprefix("train "), "what is named is tried"


@pytest.mark.extras
def test_a_net_with_data_of_its_own_learns_from_them_once(small: Path) -> None:
    formats.write_pools(small / "other.jsonl", made.pools(40, by_words=False, seed=5))
    spec = methods.METHODS[2].spec
    net = Method("net", spec, trains=True, data=str(small / "other.jsonl"))
    pools = made.pools(12, by_words=False)
    run = Trying(pools, pools, float("inf"), 5, 0)
    (trial,) = run.run([net])
    assert not trial.skipped and len(trial.models) == 1 and len(trial.scores) == 12
    kept = sorted((small / "cache" / "models").iterdir())
    again = net.learn(pools[:3])
    assert again.fingerprint == trial.models[0].fingerprint
    assert len(kept) == 1 and sorted((small / "cache" / "models").iterdir()) == kept
    hurried = Trying(pools, pools, 0.5, 5, 0, clock=iter(range(1000)).__next__)
    assert "no time was left" in hurried.run([net])[0].skipped
