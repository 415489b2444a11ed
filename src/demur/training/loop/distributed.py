"""Several processes as one: each takes its part of the steps of a change, and gradients are added up.

`torchrun --nproc-per-node 2 script.py` starts them and says so in the environment. Alone, nothing happens
here. Each ends with the same network, and only the first of them writes anything.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.errors import UsageError

if TYPE_CHECKING:
    import torch

    from demur.training.objectives.base import Objective


@dataclass(frozen=True)
class Processes:
    """Which of how many processes this is."""

    rank: int = 0
    world: int = 1
    seed: int = 0

    def add(self, weights: Sequence[torch.Tensor], loss: float) -> float:
        """The sum of all processes' losses; their gradients are added up in place."""
        if self.world == 1:
            return loss
        import torch
        import torch.distributed as dist

        # a process without a step of its own has no gradients; weights that no step uses have none anywhere
        facts = torch.tensor([loss, *(float(w.grad is not None) for w in weights)], dtype=torch.float64)
        facts = facts.to(weights[0].device)
        dist.all_reduce(facts)
        for weight, has in zip(weights, facts[1:].tolist(), strict=True):
            if has:
                weight.grad = torch.zeros_like(weight) if weight.grad is None else weight.grad
                dist.all_reduce(weight.grad)
        return float(facts[0])

    def first(self, value: float, device: torch.device) -> float:
        """The first process's value, so that all decide alike where GPUs round apart."""
        if self.world == 1:
            return value
        import torch
        import torch.distributed as dist

        said = torch.tensor([value], dtype=torch.float64, device=device)
        dist.broadcast(said, 0)
        return float(said[0])

    def draw(self, number: int) -> None:
        """Begin a change's random numbers: each process has its own, also after a kill."""
        if self.world > 1:
            import torch

            torch.manual_seed((self.seed * 1_000_003 + number) * self.world + self.rank)


def leads() -> bool:
    """Whether this process is the one that writes: the first of several, or the only one."""
    return os.environ.get("RANK", "0") == "0"


def processes(objective: Objective | None, device: str) -> Processes:
    """The processes that train this, as the environment says."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        return Processes()
    import torch
    import torch.distributed as dist

    if objective is not None and set(objective.state_dict()) - {n for n, _ in objective.named_parameters()}:
        raise UsageError(
            "this trainer remembers things between steps, so it learns in one process only; "
            "start it without torchrun"
        )
    if not dist.is_initialized():
        dist.init_process_group(_backend(device))
        atexit.register(_part)
    return Processes(dist.get_rank(), dist.get_world_size(), torch.initial_seed() % 2**31)


def _backend(device: str) -> str:
    """What carries gradients: nccl between GPUs, if each process has one to itself."""
    import torch

    here = int(os.environ.get("LOCAL_WORLD_SIZE", os.environ["WORLD_SIZE"]))
    return "nccl" if device == "cuda" and torch.cuda.device_count() >= here else "gloo"


def _part() -> None:
    """Leave the others in order: threads that still listen to them at the end would abort this process."""
    import torch.distributed as dist

    if dist.is_initialized():
        dist.destroy_process_group()
