"""SCAN: a cross-encoder trained with weights that make features independent, and against language bias.

Zhong et al. 2022, "Reducing Spurious Correlations for Answer Selection by Feature Decorrelation and Language
Debiasing". What comes back is an ordinary cross-encoder: weights and debiasing heads are for training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from demur.errors import UnknownName, UsageError
from demur.training.cross_encoders.cross_encoder import CrossEncoder

if TYPE_CHECKING:
    import torch

    from demur.training.objectives.base import Objective
    from demur.types import Pool


@dataclass(frozen=True)
class Scan(CrossEncoder):
    """A cross-encoder with feature decorrelation (`decorrelate`) and language debiasing (`debias`).

    `preset` says how what the paper leaves open is resolved: ``paper`` by its letter, ``code`` as in the
    released code, whose weights stay even, ``fixed`` with weights that move. With few features these do what
    they are meant to; with those of an encoder, more than the pairs of a step, they can do little (see
    docs/decorrelation.md), and where weights do nothing or harm a warning says so. With ``loss=listwise`` a
    pool's weight is the mean of its pairs'. `temperature` is the contrast's, the paper's τ, and `decay` its
    memory's, the paper's α, if it is not 0, the preset's own (``fixed`` has none, but a queue); the paper
    tunes both for each dataset, as ``recipes/scan-tuned.toml`` does. By ``head=first`` pairs are scored from
    the first token's last state, as in the paper. The other settings are those of ``cross-encoder``.
    """

    name: ClassVar[str] = "scan"
    loss: str = "pointwise"
    preset: str = "fixed"
    decorrelate: bool = True
    debias: bool = True
    temperature: float = 1.0
    decay: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.preset not in PRESETS:
            raise UnknownName("preset", self.preset, PRESETS)
        if not self.temperature > 0:
            raise UsageError(f"temperature={self.temperature} must be above 0")
        if not 0 <= self.decay < 1:
            raise UsageError(f"decay={self.decay} must be below 1, and not below 0")
        if self.decay and self.preset == "fixed":
            what = "preset=fixed remembers rows as they were, so decay says nothing"
            raise UsageError(f"{what}; leave it out, or say preset=paper")

    def _objective(
        self, pools: Sequence[Pool], taught: Sequence[Pool], network: torch.nn.Module
    ) -> Objective:
        from demur.training.objectives.scan import ScanObjective

        config: Any = network.config
        parts = self.decorrelate, self.debias
        tuned = self.temperature, self.decay
        return ScanObjective(self._loss(), int(config.hidden_size), self.preset, *parts, *tuned)


PRESETS = ("paper", "code", "fixed")
