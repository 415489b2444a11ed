"""Rankers that learn: a trainer sees labelled pools and returns a ranker, which can be saved as a folder."""

from __future__ import annotations

import dataclasses
from typing import Any

from demur import registry
from demur.errors import UsageError
from demur.specs import Setting
from demur.training.base import Reporter, Trainer

__all__ = ["SEEDS", "Reporter", "Trainer", "innermost", "seeded", "trainer"]

SEEDS = 2**32
"""How many seeds there are: all libraries that draw take these."""
_FASTEST = 1e30  # no net learns with that; far above, not even the steps are numbers
_RATES = "learning_rate", "generator_rate"


def trainer(spec: str, **settings: Setting) -> Trainer:
    """The trainer a spec names, such as ``siamese(loss=pairwise, margin=0.01)``."""
    built: Trainer = registry.build("trainer", spec, settings)
    known: dict[str, Any] = {name: getattr(built, name) for name in {"seed", *_RATES} & built.settings}
    if not 0 <= (seed := known.pop("seed", 0)) < SEEDS:
        raise UsageError(f"seed={seed} must be 0 or more, and below {SEEDS}")
    for name, rate in sorted(known.items(), reverse=True):
        if not 0 <= rate <= _FASTEST or (rate == 0 and getattr(type(built), name)):
            raise UsageError(f"{name}={rate:g} must be above 0, and at most {_FASTEST:g}")
    return built


def innermost(made: Trainer | None) -> Trainer | None:
    """The trainer that in the end makes what another one gives back, where that one has others do it."""
    while made is not None and made.inner and not made.votes:
        made = trainer(made.inner)
    return made


def refuse_readers(student: str, name: str) -> None:
    """Raise an error if a student learns from answers, where it is labels that are changed for it."""
    if trainer(student).reads:
        what = f"{student} learns from the answers in passages, and {name} changes labels alone"
        raise UsageError(f"{what}; leave {name} out, or name a student that ranks")


def seeded(spec: str, seed: int) -> Trainer:
    """The trainer a spec names, with this seed if it draws anything."""
    built: Any = trainer(spec)
    found: Trainer = dataclasses.replace(built, seed=seed) if "seed" in built.settings else built
    return found
