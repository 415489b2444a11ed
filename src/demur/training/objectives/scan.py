"""The loss of SCAN, Eq. 19: that of the weighted pairs, that of the debiased ones, and the contrast."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from demur.nets.transformers.debiasing import Debiasing, contrast
from demur.training.objectives.base import Plain, ScoredPairs
from demur.training.objectives.decorrelation import PRESETS
from demur.training.objectives.pool_losses import Loss, mean_of
from demur.training.objectives.reweighting import Reweighting


class ScanObjective(Plain):
    """The joint loss, or without one of its parts; with neither it is the plain loss."""

    def __init__(
        self,
        loss: Loss,
        width: int,
        preset: str,
        decorrelate: bool,
        debias: bool,
        temperature: float,
        decay: float = 0.0,
    ) -> None:
        super().__init__(loss)
        choices = PRESETS[preset]
        choices = replace(choices, decay=decay or choices.decay)
        self.temperature = temperature
        self.released = preset == "code"
        self.wants = ("pooled" if choices.pooled else "first") if decorrelate or debias else ""
        self.reweighting = Reweighting(width, choices) if decorrelate else None
        self.debiasing = Debiasing(width, scalar=self.released) if debias else None

    def forward(self, seen: ScoredPairs) -> Tensor:
        """The loss of a step."""
        loss = super().forward(seen)
        features = seen.features
        if features is None:
            return loss
        if self.reweighting is not None:
            loss = self.weighted(seen, self.reweighting(features))
        if self.debiasing is not None:
            # as released the heads' own loss stops short of the encoder; by the paper it does not
            biased, debiased, scores = self.debiasing(features.detach() if self.released else features)
            loss = loss + mean_of(self.loss, scores, seen.right, seen.sizes)
            loss = loss + contrast(features, debiased, biased, self.temperature)
        return loss

    def told(self) -> dict[str, float]:
        """What the weights were good for."""
        return {} if self.reweighting is None else self.reweighting.told()
