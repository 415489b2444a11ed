"""Where the training of a large network stands, as one safetensors file.

It holds the weights now and at their best, what the objective has learnt and remembers, Adam's moments, the
state of the random numbers and the log of the epochs, and is written beside and renamed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.training.loop import tensors

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass
class Standing:
    """How far training has come: steps taken, its losses, and the best epoch by what dev says."""

    step: int = 0
    average: float = 0.0  # of the loss, the last steps counting most
    total: float = 0.0  # of the losses of this epoch
    taken: int = 0  # steps of this epoch
    best_epoch: int = 0
    best_dev: float = float("-inf")
    scale: float = 0.0  # of the losses in fp16, and for how many steps it has been so
    scaled: int = 0
    best: dict[str, Tensor] = field(default_factory=dict)
    log: list[dict[str, Any]] = field(default_factory=list)  # of the epochs that are over

    def took(self, loss: float) -> None:
        """Count one step more, with this loss."""
        self.average = loss if self.step == 0 else 0.98 * self.average + 0.02 * loss
        self.total, self.taken, self.step = self.total + loss, self.taken + 1, self.step + 1

    def keep_if_best(self, epoch: int, dev: float, network: torch.nn.Module) -> None:
        """Keep the weights if no epoch before was as good."""
        if dev > self.best_dev:
            self.best_epoch, self.best_dev = epoch, dev
            self.best = {name: value.detach().clone() for name, value in network.state_dict().items()}


_FACTS = {"step": int, "average": float, "total": float, "taken": int, "best_epoch": int, "best_dev": float}
_FACTS |= {"scale": float, "scaled": int}


def keep(
    path: Path, network: torch.nn.Module, objective: torch.nn.Module | None, optimiser: Any, at: Standing
) -> None:
    """Write everything that the next step depends on."""
    import torch

    kept = {f"weight.{name}": value for name, value in network.state_dict().items()}
    kept |= {f"best.{name}": value for name, value in at.best.items()}
    if objective is not None:
        kept |= {f"objective.{name}": value for name, value in objective.state_dict().items()}
    kept |= tensors.moments(optimiser)
    kept["random"] = torch.get_rng_state()
    if torch.cuda.is_available():
        kept["random.cuda"] = torch.cuda.get_rng_state()
    said = {name: repr(getattr(at, name)) for name in _FACTS}
    tensors.write_tensors(path, kept, said | {"log": json.dumps(at.log)})


def resumed(
    path: Path | None, network: torch.nn.Module, objective: torch.nn.Module | None, optimiser: Any
) -> Standing:
    """Where to go on from, all things set back to it; the beginning where there is no file."""
    if path is None or not path.is_file():
        return Standing()
    import torch

    kept, facts = tensors.read_tensors(path)
    network.load_state_dict(tensors.starting_with(kept, "weight."))
    if objective is not None:
        objective.load_state_dict(tensors.starting_with(kept, "objective."))
    tensors.remember(optimiser, kept)
    torch.set_rng_state(kept["random"])
    if "random.cuda" in kept and torch.cuda.is_available():
        torch.cuda.set_rng_state(kept["random.cuda"])
    said: dict[str, Any] = {name: kind(facts[name]) for name, kind in _FACTS.items() if name in facts}
    return Standing(**said, best=tensors.starting_with(kept, "best."), log=json.loads(facts.get("log", "[]")))
