"""Weights for the pairs of each step, learnt beside those of the steps before, and what they did."""

from __future__ import annotations

import logging

import torch
from torch import Tensor, nn

from demur.training.objectives.decorrelation import PRESETS, Choices, dependence, learnt

_LITTLE = 0.02  # the share by which dependence must fall, or it might as well be let alone
_FEW = 0.25  # the share of the pairs that weights must be worth
_log = logging.getLogger("demur")


class Reweighting(nn.Module):
    """Weights under which the features of a step depend less on each other; its memory is a part of it."""

    rows: Tensor
    logits: Tensor
    steps: Tensor
    held: Tensor
    sums: Tensor

    def __init__(self, width: int, choices: Choices, every: int = 8) -> None:
        super().__init__()
        self.choices = choices
        self.every = every  # steps of an epoch between two looks at how dependent features are
        self.warned = False
        self.register_buffer("rows", torch.zeros(choices.memory, width))
        self.register_buffer("logits", torch.zeros(choices.memory))
        self.register_buffer("held", torch.tensor(0 if choices.queue else choices.memory))
        self.register_buffer("steps", torch.tensor(0))
        self.register_buffer("sums", torch.zeros(5, dtype=torch.float64))  # of what `told` tells

    def forward(self, features: Tensor) -> Tensor:
        """One weight for each row of features, 1 in the mean."""
        with torch.no_grad(), torch.autocast(features.device.type, enabled=False):
            return self._weights(features.detach().float())

    def _weights(self, features: Tensor) -> Tensor:
        held, count = int(self.held), len(features)
        rows = torch.cat([self.rows[:held], features])
        logits = torch.cat([self.logits[:held], features.new_zeros(count)])
        logits = learnt(rows, logits, len(rows) if self.choices.queue else count, self.choices)
        weights = torch.softmax(logits[held:], 0)
        self._look(*((rows, logits) if self.choices.queue else (features, logits[held:])), weights)
        if self.choices.queue:
            self._queue(rows, logits - logits.mean())
        else:
            self._blend(features, logits[held:])
        self.steps += 1
        return weights * count

    def _queue(self, rows: Tensor, logits: Tensor) -> None:
        """Put the newest rows first, and let the oldest go."""
        self.held.fill_(min(len(rows), self.choices.memory))
        self.rows[: int(self.held)] = rows[-self.choices.memory :]
        self.logits[: int(self.held)] = logits[-self.choices.memory :]

    def _blend(self, rows: Tensor, logits: Tensor) -> None:
        """Means over batches, Eq. 11; as released, over the first ten the plain one.

        A short batch changes the first rows only; the released code breaks down if it is among the first ten.
        """
        keep = self.choices.decay
        if self.steps < self.choices.plain:
            keep = float(self.steps / (self.steps + 1))
        count = min(len(rows), len(self.rows))
        self.rows[:count] = keep * self.rows[:count] + (1 - keep) * rows[:count]
        self.logits[:count] = keep * self.logits[:count] + (1 - keep) * logits[:count]

    def _look(self, rows: Tensor, logits: Tensor, weights: Tensor) -> None:
        count = len(weights)
        effective, spread = 1 / (count * weights.square().sum()), (count * weights).std(correction=0)
        before = after = 0.0
        if int(self.sums[0]) % self.every == 0:  # so that each epoch has one
            even = torch.full_like(logits, 1 / len(logits))
            drawn = torch.get_rng_state()
            before = dependence(rows, even)
            torch.set_rng_state(drawn)  # the same functions for both, which no weight was learnt with
            after = dependence(rows, torch.softmax(logits, 0))
        self.sums += self.sums.new_tensor([1, float(effective), float(spread), before, after])

    def _fix(self) -> str:
        tried = self.choices == PRESETS["fixed"]
        return "give more pools, or more pairs to a step" if tried else "try preset=fixed"

    def told(self) -> dict[str, float]:
        """Means over an epoch: spread and effective share of weights, dependence without and with them."""
        count, effective, spread, before, after = self.sums.tolist()
        self.sums.zero_()
        if not count:
            return {}
        looks = -(-count // self.every)
        spread, effective, before, after = spread / count, effective / count, before / looks, after / looks
        fall = 1 - after / before if before else 0.0
        harm = fall < -_LITTLE or effective < _FEW
        if (harm or (fall < _LITTLE and effective > 0.995)) and not self.warned:
            self.warned = True
            _log.warning(
                f"reweighting does {'harm' if harm else 'nothing'}: weights have a spread of {spread:.2g} "
                f"(effective size {effective:.1%}), and the dependence of features goes from {before:.3g} to "
                f"{after:.3g} ({-fall:+.1%}); {self._fix()}"
            )
        return {
            "spread": spread,
            "effective": effective,
            "dependence": before,
            "dependence_fall": fall,
        }
