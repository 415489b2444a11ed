"""SCAN from end to end on a tiny BERT, and its heads."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import demur
from demur.errors import UsageError
from demur.nets.transformers.debiasing import Debiasing, contrast
from demur.training import trainer
from demur.training.cross_encoders import scan
from demur.training.cross_encoders.scan import Scan
from demur.training.objectives import decorrelation
from demur.training.objectives.pool_losses import Loss
from demur.training.objectives.reweighting import Reweighting
from demur.training.objectives.scan import ScanObjective
from laws import toys
from training.cross_encoders.test_cross_encoder import POOLS, quick

WAYS: dict[str, dict[str, Any]] = {
    "joint": {},
    "without weights": {"decorrelate": False},
    "without heads": {"debias": False},
    "paper": {"preset": "paper"},
    "code": {"preset": "code"},
    "listwise": {"loss": "listwise"},
}


def small(**settings: Any) -> Scan:
    base = {"base": toys.bert(), "epochs": 2, "tokens": 200, "learning_rate": 0.01, "freeze_words": False}
    return Scan(**{**base, "max_length": 24, "precision": "fp32", **settings})


@pytest.mark.parametrize("way", WAYS)
def test_it_learns_and_ends_the_same_after_a_kill(way: str, tmp_path: Path) -> None:
    said: list[dict[str, Any]] = []
    small(**WAYS[way], epochs=5).train(POOLS, report=said.append)
    epochs = [facts for facts in said if "epoch" in facts]
    assert min(facts["loss"] for facts in epochs) < epochs[0]["loss"]
    assert len(epochs) == 5 and ("effective" in epochs[0]) == (way != "without weights")

    def killed(facts: dict[str, Any]) -> None:
        if facts.get("epoch") == 2:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("demur.training.loop.fitting.Schedule.minutes", 0)
        with pytest.raises(KeyboardInterrupt):
            small(**WAYS[way], epochs=3).train(POOLS, checkpoints=tmp_path, report=killed)
        resumed = small(**WAYS[way], epochs=3).train(POOLS, checkpoints=tmp_path)
    assert resumed.fingerprint == small(**WAYS[way], epochs=3).train(POOLS).fingerprint


def test_without_both_parts_it_is_the_plain_cross_encoder() -> None:
    plain = quick(loss="pointwise").train(POOLS)
    bare = small(decorrelate=False, debias=False).train(POOLS)
    assert bare.fingerprint == plain.fingerprint
    assert type(small().train(POOLS[:4])) is type(plain)


def test_saved_and_opened_it_is_an_ordinary_ranker(tmp_path: Path) -> None:
    from demur.rankers.opening import save

    trained = small().train(POOLS)
    save(trained, tmp_path / "model", {})
    opened = demur.open(tmp_path / "model")
    assert opened.spec.startswith("cross-encoder")
    assert np.allclose(opened.score("quest1?", ["cape"]), trained.score("quest1?", ["cape"]), atol=1e-6)


@pytest.mark.parametrize("temperature", [1.0, 0.5, 0.3])
def test_the_contrast_has_its_bound(temperature: float) -> None:
    draws = torch.randn(200, 8)
    bound = math.log1p(math.exp(-2 / temperature))
    assert contrast(draws, draws, -draws, temperature) == pytest.approx(bound, rel=1e-5)
    assert contrast(draws, draws.roll(1, 0), draws.roll(2, 0), temperature) > bound
    with pytest.MonkeyPatch.context() as patch:  # as if cosines went further than they can
        patch.setattr("torch.nn.functional.cosine_similarity", lambda a, b: 1.5 * (a * b).sum(1).sign())
        with pytest.raises(AssertionError):
            contrast(draws, draws, -draws, temperature)


@pytest.mark.parametrize("scalar", [True, False])
def test_the_gate_is_of_one_number_or_of_all(scalar: bool) -> None:
    heads, features = Debiasing(6, scalar), torch.randn(4, 6)
    biased, debiased, scores = heads(features)
    assert biased.shape == debiased.shape == (4, 6) and scores.shape == (4,)
    assert heads.gate(heads.transform(features)).shape == (4, 1 if scalar else 6)
    assert (biased >= 0).all() and (debiased >= 0).all()


@pytest.mark.parametrize("preset", scan.PRESETS)
def test_as_released_the_heads_own_loss_stops_short_of_the_encoder(preset: str) -> None:
    from demur.training.objectives.base import ScoredPairs
    from demur.training.objectives.pool_losses import Loss
    from demur.training.objectives.scan import ScanObjective

    def reached(shown: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(0)
        objective = ScanObjective(Loss(True), 6, preset, False, True, 1.0)
        features = torch.arange(24.0).reshape(4, 6).sin().requires_grad_()
        seen = ScoredPairs(torch.zeros(4), shown, [4], torch.arange(4), features)
        (found,) = torch.autograd.grad(objective(seen), features)
        return found

    one, other = reached(torch.tensor([True, False, False, True])), reached(torch.tensor([False] * 4))
    assert torch.allclose(one, other) == (preset == "code"), "only the contrast does, and it sees no label"


@pytest.mark.parametrize(("preset", "wants"), [("fixed", "first"), ("paper", "first"), ("code", "pooled")])
def test_features_are_the_first_tokens_or_as_released_the_poolers(preset: str, wants: str) -> None:
    objective = ScanObjective(Loss(), 8, preset, True, True, 1.0)
    assert objective.wants == wants
    assert ScanObjective(Loss(), 8, preset, False, False, 1.0).wants == "", "nothing is caught in vain"


def test_settings_are_checked() -> None:
    assert set(scan.PRESETS) == set(decorrelation.PRESETS)
    for wrong in ("preset=released", "temperature=0", "loss=triplet", "decay=1", "decay=-1", "decay=0.5"):
        with pytest.raises(UsageError):
            trainer(f"scan({wrong})")


def test_decay_is_the_presets_own_unless_it_is_said() -> None:
    found = []
    for decay in (0.0, 0.25):
        wanted = small(preset="paper", decay=decay, debias=False)
        network = wanted._begun(None).fresh()[0]
        reweighting = wanted._objective([], [], network).reweighting
        assert isinstance(reweighting, Reweighting)
        rows = torch.ones(4, reweighting.rows.shape[1])
        torch.manual_seed(0)
        reweighting(rows * torch.arange(4)[:, None])
        found.append(float(reweighting.rows[1].mean()))
    assert found == pytest.approx([0.3, 0.75])
    assert "decay" not in small().known_by
