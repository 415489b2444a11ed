"""Rankers that learn: a trainer sees labelled pools and returns a ranker, which can be saved as a folder."""

from __future__ import annotations

from demur import registry
from demur.specs import Setting
from demur.training.base import Report, Trainer

__all__ = ["Report", "Trainer", "trainer"]


def trainer(spec: str, **settings: Setting) -> Trainer:
    """The trainer a spec names, such as ``siamese(loss=pairwise, margin=0.01)``."""
    built: Trainer = registry.build("trainer", spec, settings)
    return built
