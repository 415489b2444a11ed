"""The loop that trains a network: seeded, with checkpoints from which it goes on as if it had never stopped.

So a run that was killed ends with the same numbers as one that was not.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.errors import require
from demur.training.base import Reporter, sane, sound
from demur.training.loop.checkpoints import keep, resumed
from demur.training.loop.distributed import processes
from demur.training.loop.gradients import Backward
from demur.training.loop.memory import give_back
from demur.types import IntArray

if TYPE_CHECKING:
    import torch

    from demur.training.objectives.base import Objective

Step = Sequence[int]
"""What one step sees, as the caller numbers it."""

_SAY = 5.0  # seconds between two reports
_GIVE_BACK = 100  # steps after which freed memory goes back
_SORTED_TOGETHER = 1024  # places among which batches of like length are made


@dataclass(frozen=True)
class Schedule:
    """How fast a network learns: the rate rises over `warmup` of the steps, then falls to nothing.

    The gradients of `accumulate` steps make one; with `patience`, training ends after so many epochs without
    a gain. With `quick`, attention has no dropout, see `demur.nets.transformers.attention`. With `until`, it
    ends after so many epochs, at the rates of all of them: what stands in the middle of a longer training.
    """

    learning_rate: float
    warmup: float = 0.06
    weight_decay: float = 0.01
    clip: float = 1.0
    precision: str = "auto"
    minutes: float = 3.0  # between checkpoints
    device: str = "cpu"
    accumulate: int = 1
    patience: int = 0
    quick: bool = False
    until: int = 0

    def rate(self, step: int, steps: int) -> float:
        """The share of the learning rate at a step."""
        rising = (step + 1) / max(self.warmup * steps, 1)
        return min(rising, (steps - step) / max((1 - self.warmup) * steps, 1), 1.0)

    @contextmanager
    def learning(self, network: torch.nn.Module) -> Iterator[None]:
        """The context in which a network learns."""
        from demur.nets.transformers.attention import quick
        from demur.nets.transformers.dropout import cheaply

        with quick(network, drops=not self.quick), cheaply(network):
            yield


def fit(
    network: torch.nn.Module,
    steps: Sequence[Step],
    loss_of: Callable[[Step], tuple[torch.Tensor, int]],
    schedule: Schedule,
    checkpoint: Path | None,
    report: Reporter,
    *,
    ends: Sequence[int] = (),
    objective: Objective | None = None,
    judge: Callable[[], float] | None = None,
) -> None:
    """Take all steps in order. `loss_of` gives the loss of a step and how many pairs it saw.

    An epoch is over after the steps in `ends`. An `objective` learns along where it has weights, and says
    something of each epoch. Where `judge` says how good the network is, the best epoch's weights are taken.
    Processes that torchrun started share the steps.
    """
    torch: Any = require("torch", extra="encoder")
    with schedule.learning(network):
        every = [*network.parameters(), *(objective.parameters() if objective else ())]
        learning = [weight for weight in every if weight.requires_grad]
        optimiser = torch.optim.AdamW(
            learning, lr=schedule.learning_rate, weight_decay=schedule.weight_decay, fused=True
        )
        network.train()
        shared = processes(objective, schedule.device)  # before a checkpoint sets the random numbers back
        if checkpoint is not None and shared.world > 1:  # a change is of more steps then
            checkpoint = checkpoint.with_stem(f"{checkpoint.stem}-{shared.world}")
        at = resumed(checkpoint, network, objective, optimiser)
        backward = Backward(schedule.precision, schedule.device, at)
        for told in at.log:
            report({**told, "resumed": True})
        updates = list(_updates(steps, ends or [len(steps)], schedule.accumulate * shared.world))
        end = sum(epoch <= schedule.until for _, epoch in updates) if schedule.until else len(updates)
        said = kept = time.monotonic()
        pairs = 0
        for number in range(at.step, end):
            parts, epoch = updates[number]
            for group in optimiser.param_groups:
                group["lr"] = schedule.learning_rate * schedule.rate(number, len(updates))
            optimiser.zero_grad(set_to_none=True)
            shared.draw(number)
            mean, seen = 0.0, 0
            for part in parts[shared.rank :: shared.world]:
                loss, count = backward.of(partial(loss_of, part), len(parts), learning)
                mean, seen = mean + loss / len(parts), seen + count
            mean = sane(shared.add(learning, mean))
            backward.step(optimiser, learning, schedule.clip)
            at.took(mean)
            pairs += seen
            if at.step % _GIVE_BACK == 0:
                give_back()
            now = time.monotonic()
            last = at.step == end
            if now - said > _SAY or last:
                waiting = {
                    "pairs_per_second": pairs / max(now - said, 1e-9),
                    "seconds_left": (now - said) / max(pairs, 1) * seen * (end - at.step),
                }
                share = {"step": at.step, "steps": end, "share": at.step / end}
                report({**share, "loss": at.average, **waiting})
                said, pairs = now, 0
            if ends and (last or updates[number + 1][1] != epoch):
                facts: dict[str, Any] = {"epoch": epoch, "epochs": len(ends), "loss": at.total / at.taken}
                facts["precision"] = backward.taken
                facts |= objective.told() if objective else {}
                if judge is not None:
                    network.eval()
                    facts["dev"] = shared.first(judge(), learning[0].device)
                    at.keep_if_best(epoch, facts["dev"], network)
                    network.train()
                    if 0 < schedule.patience <= epoch - at.best_epoch:
                        at.step = end
                at.total, at.taken = 0.0, 0
                at.log.append(facts)
                report(facts)
            over = at.step == end
            if (
                checkpoint is not None
                and shared.rank == 0
                and (over or time.monotonic() - kept > 60 * schedule.minutes)
            ):
                keep(checkpoint, network, objective, optimiser, at)
                kept = time.monotonic()
            if over:
                break
        if at.best:
            network.load_state_dict(at.best)
        sound(network.parameters())
        network.eval()


def _updates(
    steps: Sequence[Step], ends: Sequence[int], accumulate: int
) -> Iterator[tuple[Sequence[Step], int]]:
    """The steps of each change of the weights, and the epoch, counted from 1, that it is in."""
    for epoch, (first, end) in enumerate(itertools.pairwise([0, *ends]), 1):
        for at in range(first, end, accumulate):
            yield steps[at : min(at + accumulate, end)], epoch


def steps_of(
    longest: IntArray, sizes: Sequence[int], tokens: int, seed: int, epoch: int
) -> Iterator[list[int]]:
    """The places of each step of an epoch: shuffled, then put together by length within stretches.

    A place has `sizes` rows of at most `longest` tokens, and a step at most `tokens`, padding counted; a
    place that has more is a step by itself.
    """
    draws = np.random.default_rng([seed, epoch])
    order = draws.permutation(len(longest))
    found: list[list[int]] = []
    for at in range(0, len(order), _SORTED_TOGETHER):
        stretch = order[at : at + _SORTED_TOGETHER]
        step: list[int] = []
        held = 0
        for place in stretch[np.argsort(longest[stretch], kind="stable")].tolist():
            if step and (held + sizes[place]) * longest[place] > tokens:
                found.append(step)
                step, held = [], 0
            step.append(place)
            held += sizes[place]
        found.append(step)
    for number in draws.permutation(len(found)).tolist():
        yield found[number]
