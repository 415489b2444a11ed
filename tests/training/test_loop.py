from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from demur.errors import UsageError
from demur.training.loop import fitting, memory
from demur.training.loop.fitting import Schedule, fit

STEPS = [[n % 5, (n + 2) % 5] for n in range(12)]


def trained(checkpoint: Path | None, stop_at: int = 99) -> dict[str, Any]:
    """The weights after all steps; or the run is killed at one of them."""
    torch.manual_seed(3)
    inputs = torch.randn(5, 4)
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
    taken = 0

    def loss_of(step: Any) -> tuple[torch.Tensor, int]:
        nonlocal taken
        taken += 1
        if taken > stop_at:
            raise KeyboardInterrupt
        return (net(inputs[step]) ** 2).mean(), len(step)

    fit(net, STEPS, loss_of, Schedule(0.05, precision="fp32", minutes=0), checkpoint, lambda facts: None)
    return net.state_dict()


def test_a_killed_run_ends_like_one_that_was_not(tmp_path: Path) -> None:
    whole = trained(None)
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "ck.safetensors", stop_at=7)
    resumed = trained(tmp_path / "ck.safetensors")
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_a_run_that_goes_on_has_the_whole_log(tmp_path: Path) -> None:
    def logged(checkpoint: Path | None, stop_at: int = 99) -> list[dict[str, Any]]:
        net, said, taken = torch.nn.Linear(2, 1), list[dict[str, Any]](), 0

        def loss_of(step: Any) -> tuple[torch.Tensor, int]:
            nonlocal taken
            taken += 1
            if taken > stop_at:
                raise KeyboardInterrupt
            return (net(torch.ones(len(step), 2)) ** 2).mean(), len(step)

        torch.manual_seed(1)
        torch.nn.init.ones_(net.weight)
        torch.nn.init.ones_(net.bias)
        schedule = Schedule(0.05, precision="fp32", minutes=0)
        fit(net, STEPS, loss_of, schedule, checkpoint, said.append, ends=[4, 8, 12])
        return [{**facts, "resumed": None} for facts in said if "epoch" in facts]

    whole = logged(None)
    with pytest.raises(KeyboardInterrupt):
        logged(tmp_path / "ck.safetensors", stop_at=9)
    assert logged(tmp_path / "ck.safetensors") == whole
    assert [facts["epoch"] for facts in whole] == [1, 2, 3]


def test_it_learns_and_says_so() -> None:
    torch.manual_seed(0)
    net, said = torch.nn.Linear(2, 1), list[dict[str, Any]]()
    inputs, target = torch.randn(64, 2), torch.randn(1, 2)

    def loss_of(step: Any) -> tuple[torch.Tensor, int]:
        return ((net(inputs[step]) - inputs[step] @ target.T) ** 2).mean(), len(step)

    steps = [torch.randperm(64)[:16].tolist() for _ in range(300)]
    schedule = Schedule(0.05, precision="fp32", weight_decay=0)
    fit(net, steps, loss_of, schedule, None, said.append)
    assert said[-1]["step"] == 300 and said[-1]["loss"] < 0.05
    assert said[-1]["seconds_left"] == 0


def test_freed_memory_goes_back_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    gone: list[int] = []
    monkeypatch.setattr(fitting, "_GIVE_BACK", 5)
    monkeypatch.setattr(fitting, "give_back", lambda: gone.append(1))
    trained(None)
    assert len(gone) == len(STEPS) // 5
    memory.give_back()  # on any system


def test_the_rate_rises_and_falls_to_nothing() -> None:
    schedule = Schedule(1.0, warmup=0.1)
    rates = [schedule.rate(step, 100) for step in range(100)]
    assert rates[0] == pytest.approx(0.1) and max(rates) == 1 == rates[9]
    assert rates[9:] == sorted(rates[9:], reverse=True) and rates[-1] < 0.02


def test_a_broken_checkpoint_is_one_clear_line(tmp_path: Path) -> None:
    from demur.errors import DataError
    from demur.training.loop.checkpoints import resumed

    (tmp_path / "x.safetensors").write_bytes(b"no checkpoint")
    net = torch.nn.Linear(1, 1)
    with pytest.raises(DataError, match="no checkpoint"):
        resumed(tmp_path / "x.safetensors", net, None, torch.optim.AdamW(net.parameters()))


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_ends_training_and_is_not_kept(loss: float, tmp_path: Path) -> None:
    net, taken = torch.nn.Linear(2, 1), 0

    def loss_of(step: Any) -> tuple[torch.Tensor, int]:
        nonlocal taken
        taken += 1
        return net(torch.ones(2, 2)).mean() * (loss if taken > 3 else 1.0), 2

    schedule = Schedule(0.05, precision="fp32", minutes=9)
    with pytest.raises(UsageError, match=r"diverged.*lower learning_rate"):
        fit(net, STEPS, loss_of, schedule, tmp_path / "ck.safetensors", lambda facts: None)
    assert taken == 4 and all(weight.isfinite().all() for weight in net.parameters())


def test_a_snapshot_is_what_the_whole_training_had_after_that_epoch(tmp_path: Path) -> None:
    def taught(until: int, checkpoint: Path | None = None) -> tuple[list[Any], list[dict[str, Any]]]:
        """The weights after each epoch, and what was said."""
        torch.manual_seed(2)
        net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Dropout(0.5), torch.nn.Linear(3, 1))
        after: list[dict[str, Any]] = []
        said: list[dict[str, Any]] = []

        def loss_of(step: Any) -> tuple[torch.Tensor, int]:
            return (net(torch.ones(len(step), 2)) ** 2).mean(), len(step)

        def judge() -> float:
            after.append({name: value.detach().clone() for name, value in net.state_dict().items()})
            return float(len(after))  # the last is the best

        schedule = Schedule(0.05, precision="fp32", minutes=0, until=until)
        fit(net, STEPS, loss_of, schedule, checkpoint, said.append, ends=[4, 8, 12], judge=judge)
        return after, said

    whole, _ = taught(0)
    first, said = taught(1, tmp_path / "ck.safetensors")
    assert len(whole) == 3 and len(first) == 1
    assert all(torch.equal(whole[0][name], first[0][name]) for name in first[0])
    assert [each["share"] for each in said if "share" in each][-1] == 1, "a bar that comes to its end"
    rest, _ = taught(0, tmp_path / "ck.safetensors")
    assert len(rest) == 2 and all(torch.equal(whole[2][name], rest[1][name]) for name in rest[1])
