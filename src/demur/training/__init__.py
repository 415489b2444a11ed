"""Rankers that learn: a trainer sees labelled pools and returns a ranker, which can be saved as a folder."""

from __future__ import annotations

import dataclasses
from typing import Any

from demur import registry
from demur.errors import UsageError
from demur.specs import Setting
from demur.training.base import Report, Trainer

__all__ = ["Report", "Trainer", "seeded", "trainer"]


def trainer(spec: str, **settings: Setting) -> Trainer:
    """The trainer a spec names, such as ``siamese(loss=pairwise, margin=0.01)``."""
    built: Trainer = registry.build("trainer", spec, settings)
    if getattr(built, "seed", 0) < 0:
        raise UsageError(f"seed={built.seed} must be 0 or more")  # type: ignore[attr-defined]  # as was seen
    if getattr(built, "learning_rate", 1) < 0:
        raise UsageError(f"learning_rate={built.learning_rate:g} must be above 0")  # type: ignore[attr-defined]
    return built


def seeded(spec: str, seed: int) -> Trainer:
    """The trainer a spec names, with this seed if it draws anything."""
    built: Any = trainer(spec)
    found: Trainer = dataclasses.replace(built, seed=seed) if hasattr(built, "seed") else built
    return found
