"""The way back through a network, in the precision that is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from demur import precision
from demur.errors import require
from demur.training.loop.checkpoints import Standing

if TYPE_CHECKING:
    import torch


class Backward:
    """Losses and their gradients; those of fp16, which are soon too small for it, are scaled.

    Where torch lacks a precision for a layer, all is learnt in fp32, and this is said.
    """

    def __init__(self, named: str, device: str, at: Standing) -> None:
        torch: Any = require("torch", extra="encoder")
        self.taken = precision.taken(named, device, "learning")
        self._device, self._at = device, at
        self._can_compute = self.taken == "fp32"  # whether torch can
        self._scaler = torch.amp.GradScaler(device, enabled=self.taken == "fp16")
        if at.scale and self.taken == "fp16":
            self._scaler.load_state_dict(
                {**self._scaler.state_dict(), "scale": at.scale, "_growth_tracker": at.scaled}
            )

    def of(
        self,
        loss_of: Callable[[], tuple[torch.Tensor, int]],
        parts: int,
        weights: Sequence[torch.nn.Parameter],
    ) -> tuple[float, int]:
        """The loss and how many pairs it is of; weights have its gradients, as of one of so many parts."""
        if self._can_compute:
            return self._of(loss_of, parts)
        import torch

        drawn = torch.get_rng_state()
        try:
            found = self._of(loss_of, parts)
        except RuntimeError as error:
            if precision.not_of_precision(error):
                raise
            lacking, self.taken = self.taken, "fp32"
            torch.set_rng_state(drawn)  # so that a resumed run draws the same
            for weight in weights:
                weight.grad = None
            found = self._of(loss_of, parts)  # raises again where it was something else
            precision.missing(lacking)
            precision.note("learning", self.taken, instead=lacking)
        self._can_compute = True
        return found

    def _of(self, loss_of: Callable[[], tuple[torch.Tensor, int]], parts: int) -> tuple[float, int]:
        with precision.casting(self.taken, self._device):
            loss, count = loss_of()
        self._scaler.scale(loss / parts).backward()
        return loss.item(), count

    def step(
        self, optimiser: torch.optim.Optimizer, weights: Sequence[torch.nn.Parameter], clip: float
    ) -> None:
        """Change the weights by their gradients, which together are no longer than `clip`."""
        import torch

        self._scaler.unscale_(optimiser)
        torch.nn.utils.clip_grad_norm_(weights, clip)
        self._scaler.step(optimiser)
        self._scaler.update()
        if self.taken == "fp16":
            said = self._scaler.state_dict()
            self._at.scale, self._at.scaled = said["scale"], said["_growth_tracker"]
