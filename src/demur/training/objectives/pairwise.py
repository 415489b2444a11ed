"""What it costs how a net scores a right answer and a wrong one: a hinge between the two."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from demur.nets.matching.match_net import Worded
from demur.training.objectives.base import Objective

Look = Callable[[Worded], Tensor]
"""What a net says of the pairs of a step: right answers first, then as many wrong ones."""


class Pairwise(Objective):
    """A right answer should have a `margin` more than a wrong one."""

    def __init__(self, margin: float) -> None:
        super().__init__()
        self.margin = margin

    def of(self, network: Worded, look: Look) -> Tensor:
        """The loss of a step, by a net and all that may be asked of the step."""
        good, bad = look(network).chunk(2)
        return (self.margin - good + bad).clamp(min=0).mean()
