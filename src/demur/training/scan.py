"""SCAN: a cross-encoder trained with weights that make features independent, and against language bias.

Zhong et al. 2022, "Reducing Spurious Correlations for Answer Selection by Feature Decorrelation and Language
Debiasing". What comes back is an ordinary cross-encoder: weights and debiasing heads are for training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from demur.errors import UnknownName, UsageError
from demur.training.cross_encoder import CrossEncoder

if TYPE_CHECKING:
    import torch

    from demur.training.objectives import Objective
    from demur.types import Pool


@dataclass(frozen=True)
class Scan(CrossEncoder):
    """A cross-encoder with feature decorrelation (`decorrelate`) and language debiasing (`debias`).

    `preset` says how what the paper leaves open is resolved: ``paper`` by its letter, ``code`` as in the
    released code, whose weights stay even, ``fixed`` so that the method does what it is meant to. With
    ``loss=listwise`` a pool's weight is the mean of its pairs'. `temperature` is that of the contrast. The
    other settings are those of ``cross-encoder``.
    """

    name: ClassVar[str] = "scan"
    loss: str = "pointwise"
    preset: str = "fixed"
    decorrelate: bool = True
    debias: bool = True
    temperature: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.preset not in PRESETS:
            raise UnknownName("preset", self.preset, PRESETS)
        if not self.temperature > 0:
            raise UsageError(f"temperature={self.temperature} must be above 0")

    def _objective(
        self, pools: Sequence[Pool], taught: Sequence[Pool], network: torch.nn.Module
    ) -> Objective:
        from demur.training.scan_objective import ScanObjective

        config: Any = network.config
        parts = self.decorrelate, self.debias
        return ScanObjective(self._loss(), int(config.hidden_size), self.preset, *parts, self.temperature)


PRESETS = ("paper", "code", "fixed")
