"""Epochs: what is said of them, the best one's weights, gradients of several steps as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from demur.errors import DataError, UsageError
from demur.training import trainer
from demur.training.loop.fitting import Schedule, fit
from demur.training.objectives.base import Objective, ScoredPairs
from demur.training.objectives.pool_losses import Loss, listwise, loss_of, pointwise
from demur.types import Pool
from training.cross_encoders.test_cross_encoder import POOLS, quick

STEPS = [[n % 5, (n + 2) % 5] for n in range(12)]
DEV = [0.3, 0.7, 0.5, 0.6]  # of four epochs; the second is the best


class Counting(Objective):
    """One weight that learns along, and a memory of the steps."""

    steps: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, seen: ScoredPairs) -> torch.Tensor:
        self.steps += 1
        return (self.scale * seen.scores).square().mean() + 0.01 * self.steps * self.scale.square()

    def told(self) -> dict[str, float]:
        return {"steps_seen": float(self.steps)}


def trained(
    checkpoint: Path | None = None, stop_at: int = 99, patience: int = 0, accumulate: int = 1
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The weights after all steps, and what was said; or the run is killed at a step."""
    torch.manual_seed(3)
    inputs, said, taken = torch.randn(5, 4), list[dict[str, Any]](), 0
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 1))
    objective = Counting()

    def loss_of(step: Any) -> tuple[torch.Tensor, int]:
        nonlocal taken
        taken += 1
        if taken > stop_at:
            raise KeyboardInterrupt
        scores = net(inputs[step])[:, 0]
        return objective(ScoredPairs(scores, scores > 0, [len(step)], torch.tensor(step))), len(step)

    def judge() -> float:
        assert not net.training
        return DEV[int(objective.steps) // 3 - 1]

    schedule = Schedule(0.05, precision="fp32", minutes=0, patience=patience, accumulate=accumulate)
    more: dict[str, Any] = {"ends": [3, 6, 9, 12], "objective": objective, "judge": judge}
    fit(net, STEPS, loss_of, schedule, checkpoint, said.append, **more)
    return {**net.state_dict(), **objective.state_dict()}, said


@pytest.mark.parametrize("killed_at", [2, 6, 8])
def test_a_killed_run_ends_like_one_that_was_not(tmp_path: Path, killed_at: int) -> None:
    whole, said = trained()
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "ck.safetensors", stop_at=killed_at)
    resumed, later = trained(tmp_path / "ck.safetensors")
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    epochs = [facts for facts in said if "epoch" in facts]
    told = [facts for facts in later if "epoch" in facts]  # those of before are told again, marked
    assert [{**facts, "resumed": True} for facts in epochs[: killed_at // 3]] == told[: killed_at // 3]
    assert told[killed_at // 3 :] == epochs[killed_at // 3 :]


def test_the_best_epochs_weights_win() -> None:
    best, said = trained()
    stopped, short = trained(patience=1)
    assert torch.equal(best["0.weight"], stopped["0.weight"])
    assert [facts["dev"] for facts in said if "epoch" in facts] == DEV
    assert [facts["dev"] for facts in short if "epoch" in facts] == DEV[:3]
    assert [facts["steps_seen"] for facts in said if "epoch" in facts] == [3, 6, 9, 12]


def test_steps_of_one_gradient_are_their_mean() -> None:
    net = nn.Linear(3, 1, bias=False)
    inputs, begun = torch.randn(6, 3), {name: value.clone() for name, value in net.state_dict().items()}

    def after(steps: list[list[int]], accumulate: int) -> torch.Tensor:
        net.load_state_dict(begun)
        schedule = Schedule(0.1, precision="fp32", accumulate=accumulate)
        fit(net, steps, lambda s: (net(inputs[s]).square().mean(), len(s)), schedule, None, lambda f: None)
        return net.weight.detach().clone()

    together = after([[0, 1, 2, 3, 4, 5]], 1)
    assert torch.allclose(after([[0, 1], [2, 3], [4, 5]], 3), together, atol=1e-6)
    assert not torch.allclose(after([[0, 1], [2, 3], [4, 5]], 1), together, atol=1e-3)


def test_a_cross_encoder_keeps_its_best_epoch(tmp_path: Path) -> None:
    said: list[dict[str, Any]] = []
    settings: dict[str, Any] = {"early": "MAP", "epochs": 5, "learning_rate": 0.02, "accumulate": 2}
    kept = quick(**settings).train(POOLS[:8], POOLS[8:], checkpoints=tmp_path, report=said.append)
    epochs = [facts for facts in said if "epoch" in facts]
    assert [facts["epoch"] for facts in epochs] == [1, 2, 3, 4, 5] and "loss" in epochs[0]
    again = quick(**settings).train(POOLS[:8], POOLS[8:], checkpoints=tmp_path)  # from the last checkpoint
    assert again.fingerprint == kept.fingerprint
    best = max(epochs, key=lambda facts: facts["dev"])
    from demur.evaluation import evaluate

    assert evaluate(kept, POOLS[8:], "MAP").measures["MAP"].mean == pytest.approx(best["dev"])


def test_settings_that_are_off_are_as_before() -> None:
    assert quick().train(POOLS).fingerprint == quick(accumulate=1, early="MAP").train(POOLS).fingerprint
    assert not {"accumulate", "early", "smoothing", "focal", "device"} & set(quick().known_by.split("="))
    for wrong in ("smoothing=1", "focal=-1.0", "device=tpu", "early=speed", "accumulate=-1"):
        with pytest.raises(UsageError):
            trainer(f"cross-encoder({wrong})")


def test_early_names_one_measure_that_dev_can_tell() -> None:
    with pytest.raises(UsageError, match="must be one measure"):
        trainer("cross-encoder(early='MAP, RR')")
    blank = [Pool.of(pool.question, pool.answers) for pool in POOLS[8:]]
    with pytest.raises(DataError, match="early=MAP has nothing to go by: dev has no right answer"):
        quick(early="MAP").train(POOLS[:8], blank)


SCORES, RIGHT, SIZES = torch.tensor([2.0, -1.0, 0.5, 0.1, 3.0]), torch.tensor([1, 0, 0, 0, 1]) > 0, [3, 2]


def test_smoothing_moves_a_share_of_the_target() -> None:
    target = torch.where(RIGHT, 0.9, 0.1)
    expected = nn.functional.binary_cross_entropy_with_logits(SCORES, target)
    smooth = loss_of(Loss(pointwise=True, smoothing=0.2), SCORES, RIGHT, SIZES)
    assert torch.allclose(smooth.mean(), expected)
    flat = loss_of(Loss(smoothing=0.2), SCORES[:3], RIGHT[:3], [3])
    target = torch.tensor([0.8, 0, 0]) + 0.2 / 3
    assert torch.allclose(flat.mean(), -(target * SCORES[:3].log_softmax(0)).sum())


@pytest.mark.parametrize("of_pairs", [True, False])
def test_focal_counts_the_sure_less(of_pairs: bool) -> None:
    plain = loss_of(Loss(of_pairs), SCORES, RIGHT, SIZES)
    focal = loss_of(Loss(of_pairs, focal=2.0), SCORES, RIGHT, SIZES)
    assert torch.allclose(focal, plain * (1 - torch.exp(-plain)) ** 2, atol=1e-6)
    whole = (pointwise if of_pairs else listwise)(SCORES, RIGHT, SIZES)
    assert torch.allclose(plain.mean(), whole)
