"""The loop that teaches small nets: shuffled batches, Adam as Keras has it, and early stopping on a dev set.

The random numbers of an epoch hang on the seed and its number alone. So training that goes on from a checkpoint
ends with the same numbers as if it had never stopped.
"""

from __future__ import annotations

import copy
import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from demur.nets.small import SmallNet
from demur.training.base import Report
from demur.training.lessons import Lesson
from demur.training.states import keep, resume

BETAS, EPSILON = (0.9, 0.999), 1e-7  # Keras'
_SAY, _KEEP = 5.0, 30.0  # seconds between reports within an epoch, and between checkpoints

Exam = Callable[[SmallNet], float]
"""What early stopping looks at, after each epoch: the lower the better."""


@dataclass(frozen=True)
class Course:
    """How a net is taught."""

    epochs: int
    batch: int
    learning_rate: float
    seed: int
    patience: int
    min_delta: float


@dataclass
class Progress:
    """How far a course has come: the epochs done, the best of them, and how long there was nothing better."""

    log: list[dict[str, float]] = field(default_factory=list)
    best: int = -1
    reference: float = float("inf")  # the figure that the next must undercut by min_delta
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
        self.waited = 0 if dev < self.reference - min_delta else self.waited + 1
        if self.waited == 0:
            self.reference = dev
        if self.best < 0 or dev < self.log[self.best - 1]["dev"]:
            self.best = self.epoch
            return True
        return False


def teach(
    net: SmallNet, lesson: Lesson, exam: Exam | None, course: Course, checkpoint: Path | None, report: Report
) -> Progress:
    """Train the net; at the end it has the weights of its best epoch, or without an exam of its last."""
    optimiser = torch.optim.Adam(
        net.parameters(), lr=course.learning_rate, betas=BETAS, eps=EPSILON, fused=True
    )
    best = copy.deepcopy(net.state_dict())
    progress = Progress()
    if checkpoint is not None and checkpoint.is_file():
        best, facts = resume(checkpoint, net, optimiser)
        progress = Progress(**facts)
    saved = time.monotonic()
    with torch.random.fork_rng(devices=[]):  # the caller's random numbers are left alone
        while progress.epoch < course.epochs and progress.waited < max(course.patience, 1):
            loss = _epoch(net, lesson, optimiser, course, progress.epoch, report)
            dev = None if exam is None else exam(net)
            if progress.add(loss, dev, course.min_delta) and exam is not None:
                best = copy.deepcopy(net.state_dict())
            report({"epoch": progress.epoch, "epochs": course.epochs, "loss": loss, "dev": dev})
            if checkpoint is not None and time.monotonic() - saved > _KEEP:
                keep(checkpoint, net, optimiser, best, dataclasses.asdict(progress))
                saved = time.monotonic()
    if exam is not None:
        net.load_state_dict(best)
    net.eval()
    return progress


def _epoch(
    net: SmallNet, lesson: Lesson, optimiser: torch.optim.Optimizer, course: Course, epoch: int, report: Report
) -> float:
    """The mean loss of a batch in one epoch over all examples, in an order of its own."""
    torch.manual_seed(course.seed * 100_003 + epoch)
    net.train()
    done, total, said = 0, 0.0, time.monotonic()
    for chosen in torch.randperm(len(lesson)).split(course.batch):
        loss: Tensor = lesson.loss(net, chosen)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch says no type here
        optimiser.step()
        done += len(chosen)
        total += loss.item() * len(chosen)
        if time.monotonic() - said > _SAY:
            facts: dict[str, Any] = {"epoch": epoch + 1, "epochs": course.epochs, "loss": total / done}
            report(facts | {"share": done / len(lesson)})
            said = time.monotonic()
    return total / max(done, 1)
