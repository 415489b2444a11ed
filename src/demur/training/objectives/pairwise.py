"""What the scores of a right and a wrong answer cost: by a hinge, or by a judge that learns along."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn.functional import softplus

from demur.nets.matching.cnn import Judge
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


class Judged(Pairwise):
    """A judge learns to tell a person's scores, 1 and 0, from the net's; the net learns to pass for one.

    Cosines are brought between 0 and 1 for it. Both learn in the same step, each from its own loss.
    """

    def __init__(self, views: Worded, judge: Judge) -> None:
        super().__init__(0.0)
        self.views, self.judge = views, judge

    def of(self, network: Worded, look: Look) -> Tensor:
        """The loss of a step: what the judge gets wrong, and what it sees through."""
        scores = (1 + look(network)) / 2
        good, bad = scores.chunk(2)
        views = right, wrong = look(self.views).chunk(2)  # pairs × filters each
        person = self.judge(right, wrong, torch.ones_like(good), torch.zeros_like(bad))
        machine = self.judge(right, wrong, good.detach(), bad.detach())
        fixed = {name: weight.detach() for name, weight in self.judge.named_parameters()}
        seen: Tensor = functional_call(self.judge, fixed, (*(each.detach() for each in views), good, bad))
        return (softplus(-person) + softplus(machine) + softplus(-seen)).mean()
