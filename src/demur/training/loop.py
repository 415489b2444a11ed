"""The loop that trains a network: seeded, with checkpoints from which it goes on as if it had never stopped.

A checkpoint is one safetensors file with weights, Adam's moments and the state of the random numbers, written
beside and renamed. So a run that was killed ends with the same numbers as one that was not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.errors import require
from demur.training.base import Report

if TYPE_CHECKING:
    import torch

Step = Sequence[int]
"""What one step sees, as the caller numbers it."""

_SAY = 5.0  # seconds between two reports


@dataclass(frozen=True)
class Schedule:
    """How fast a network learns: the rate rises over `warmup` of the steps, then falls to nothing."""

    learning_rate: float
    warmup: float = 0.06
    weight_decay: float = 0.01
    clip: float = 1.0
    precision: str = "bf16"
    minutes: float = 3.0  # between checkpoints

    def rate(self, step: int, steps: int) -> float:
        """The share of the learning rate at a step."""
        rising = (step + 1) / max(self.warmup * steps, 1)
        return min(rising, (steps - step) / max((1 - self.warmup) * steps, 1), 1.0)

    def casting(self) -> AbstractContextManager[Any]:
        """The context in which a network computes."""
        import torch

        return torch.autocast("cpu", torch.bfloat16) if self.precision == "bf16" else nullcontext()


def fit(
    network: torch.nn.Module,
    steps: Sequence[Step],
    loss_of: Callable[[Step], tuple[torch.Tensor, int]],
    schedule: Schedule,
    checkpoint: Path | None,
    report: Report,
) -> None:
    """Take all steps in order. `loss_of` gives the loss of a step and how many pairs it saw."""
    torch: Any = require("torch", extra="encoder")
    learning = [weight for weight in network.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(
        learning, lr=schedule.learning_rate, weight_decay=schedule.weight_decay, fused=True
    )
    network.train()
    start, average = _resumed(network, optimiser, checkpoint)
    said = kept = time.monotonic()
    pairs = 0
    for step in range(start, len(steps)):
        for group in optimiser.param_groups:
            group["lr"] = schedule.learning_rate * schedule.rate(step, len(steps))
        with schedule.casting():
            loss, seen = loss_of(steps[step])
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch says no type here
        torch.nn.utils.clip_grad_norm_(learning, schedule.clip)
        optimiser.step()
        average = loss.item() if step == 0 else 0.98 * average + 0.02 * loss.item()
        pairs += seen
        now = time.monotonic()
        if now - said > _SAY or step == len(steps) - 1:
            rate = pairs / max(now - said, 1e-9)
            left = (now - said) / max(pairs, 1) * seen * (len(steps) - step - 1)
            report(
                {
                    "step": step + 1,
                    "steps": len(steps),
                    "loss": average,
                    "pairs_per_second": rate,
                    "seconds_left": left,
                }
            )
            said, pairs = now, 0
        if checkpoint is not None and (now - kept > 60 * schedule.minutes or step == len(steps) - 1):
            _keep(network, optimiser, checkpoint, step + 1, average)
            kept = now
    network.eval()


def _keep(network: torch.nn.Module, optimiser: Any, checkpoint: Path, step: int, average: float) -> None:
    """Write everything that the next step depends on."""
    import torch
    from safetensors.torch import save_file

    tensors = {f"weight.{name}": value for name, value in network.state_dict().items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"adam.{number}.{name}": torch.as_tensor(value) for name, value in state.items()}
    tensors["random"] = torch.get_rng_state()
    beside = checkpoint.with_name(f".{checkpoint.name}.part")
    kept = {name: value.contiguous().clone() for name, value in tensors.items()}  # clones: some share memory
    save_file(kept, beside, {"step": str(step), "average": repr(average)})
    beside.replace(checkpoint)


def _resumed(network: torch.nn.Module, optimiser: Any, checkpoint: Path | None) -> tuple[int, float]:
    """The step to go on from and the mean loss so far; 0 where there is no checkpoint."""
    if checkpoint is None or not checkpoint.is_file():
        return 0, 0.0
    import torch
    from safetensors import safe_open

    with safe_open(checkpoint, "pt") as file:
        facts = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    network.load_state_dict(
        {name.removeprefix("weight."): value for name, value in tensors.items() if name.startswith("weight.")}
    )
    state: dict[int, dict[str, Any]] = {}
    for name, value in tensors.items():
        if name.startswith("adam."):
            _, number, key = name.split(".", 2)
            state.setdefault(int(number), {})[key] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
    torch.set_rng_state(tensors["random"])
    return int(facts["step"]), float(facts["average"])
