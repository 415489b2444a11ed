"""The loop that trains small nets: shuffled batches, Adam as Keras has it, and early stopping on a dev set.

The random numbers of an epoch depend on the seed and its number alone. So training that goes on from a
checkpoint ends with the same numbers as if it had never stopped. A checkpoint is one safetensors file:
weights now and at their best, Adam's moments, the log.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from demur import precision
from demur.nets.small.base import SmallNet
from demur.training.base import Reporter, sane, silent
from demur.training.loop import tensors
from demur.training.small_nets.examples import Examples

BETAS, EPSILON = (0.9, 0.999), 1e-7  # Keras'
SAY, KEEP = 5.0, 30.0  # seconds between reports within an epoch, and between checkpoints

DevMeasure = Callable[[SmallNet], float]
"""What early stopping looks at, after each epoch: the lower the better."""


@dataclass(frozen=True)
class Schedule:
    """How a net is trained."""

    epochs: int
    batch: int
    learning_rate: float
    seed: int
    patience: int
    min_delta: float
    usable: bool = False
    """Whether the net is of use before it is trained, as after an earlier stage."""


@dataclass
class Progress:
    """How far training has come: the epochs done, the best of them, and how long there was nothing better.

    Where it began with something of use, and no epoch is better on the dev set, that is the best, as epoch 0.
    """

    lowest: float | None  # on the dev set, at the start or since
    log: list[dict[str, float]] = field(default_factory=list)
    best: int = 0
    reference: float | None = None  # the figure that the next must undercut by min_delta
    waited: int = 0

    @property
    def epoch(self) -> int:
        """The number of epochs done."""
        return len(self.log)

    def add(self, loss: float, dev: float | None, min_delta: float) -> bool:
        """Note an epoch; whether it is the best so far."""
        self.log.append({"epoch": self.epoch + 1, "loss": loss} | ({} if dev is None else {"dev": dev}))
        if dev is None:
            self.best = self.epoch
            return True
        gained = self.reference is None or dev < self.reference - min_delta
        self.reference, self.waited = (dev, 0) if gained else (self.reference, self.waited + 1)
        if self.lowest is not None and dev >= self.lowest:
            return False
        self.lowest, self.best = dev, self.epoch
        return True


def train_net(
    net: SmallNet,
    examples: Examples,
    dev_measure: DevMeasure | None,
    schedule: Schedule,
    checkpoint: Path | None = None,
    report: Reporter = silent,
) -> Progress:
    """Train the net; at the end it has the weights of its best epoch, or without a measure of its last."""
    precision.note("learning", "fp32")
    optimiser = torch.optim.Adam(
        net.parameters(), lr=schedule.learning_rate, betas=BETAS, eps=EPSILON, fused=True
    )
    best = copy.deepcopy(net.state_dict())
    progress = Progress(dev_measure(net) if dev_measure is not None and schedule.usable else None)
    if checkpoint is not None and checkpoint.is_file():
        best, facts = _resume(checkpoint, net, optimiser)
        progress = Progress(**facts)
        for done in progress.log:
            report({**done, "epochs": schedule.epochs, "resumed": True})
    saved = time.monotonic()
    with torch.random.fork_rng(devices=[]):  # the caller's random numbers are left alone
        while progress.epoch < schedule.epochs and progress.waited < schedule.patience:
            loss = _epoch(net, examples, optimiser, schedule, progress.epoch, report)
            dev = None if dev_measure is None else dev_measure(net)
            if progress.add(loss, dev, schedule.min_delta) and dev_measure is not None:
                best = copy.deepcopy(net.state_dict())
            report({**progress.log[-1], "epochs": schedule.epochs})
            if checkpoint is not None and time.monotonic() - saved > KEEP:
                _keep(checkpoint, net, optimiser, best, dataclasses.asdict(progress))
                saved = time.monotonic()
    if dev_measure is not None:
        net.load_state_dict(best)
    net.eval()
    return progress


def _epoch(
    net: SmallNet,
    examples: Examples,
    optimiser: torch.optim.Optimizer,
    schedule: Schedule,
    epoch: int,
    report: Reporter,
) -> float:
    """The mean loss of a batch in one epoch over all examples, in an order of its own."""
    torch.manual_seed(schedule.seed * 100_003 + epoch)
    net.train()
    done, total, began = 0, 0.0, time.monotonic()
    said = began
    order = torch.randperm(len(examples))
    for chosen in torch.split(order, schedule.batch):
        loss: Tensor = examples.loss(net, chosen)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch says no type here
        optimiser.step()
        done += len(chosen)
        total += sane(loss.item()) * len(chosen)
        if time.monotonic() - said > SAY:
            said = time.monotonic()
            facts: dict[str, Any] = {"epoch": epoch + 1, "epochs": schedule.epochs, "loss": total / done}
            report(facts | {"share": done / len(examples), "pairs_per_second": done / (said - began)})
    return total / max(done, 1)


def _keep(
    path: Path,
    net: SmallNet,
    optimiser: torch.optim.Optimizer,
    best: dict[str, Tensor],
    facts: dict[str, Any],
) -> None:
    """Write all that the next epoch depends on."""
    kept = {f"now.{name}": value for name, value in net.state_dict().items()}
    kept |= {f"best.{name}": value for name, value in best.items()}
    tensors.write_tensors(path, kept | tensors.moments(optimiser), {"facts": json.dumps(facts)})


def _resume(
    path: Path, net: SmallNet, optimiser: torch.optim.Optimizer
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The best weights and the facts of a file, after net and optimiser were set back to where they were."""
    kept, said = tensors.read_tensors(path)
    try:
        facts: dict[str, Any] = json.loads(said["facts"])
    except (ValueError, KeyError) as error:
        raise tensors.broken(path, error) from None
    net.load_state_dict(tensors.starting_with(kept, "now."))
    tensors.remember(optimiser, kept)
    return tensors.starting_with(kept, "best."), facts
