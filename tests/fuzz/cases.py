"""How many cases are made: a few in every run of the suite, always the same; `make fuzz` makes 10,000."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import HealthCheck, Phase, settings

from demur.errors import DemurError

ALL = int(os.environ.get("DEMUR_FUZZ", "300"))
QUICK = "DEMUR_FUZZ" not in os.environ


def cases(percent: float) -> Callable[[Any], Any]:
    """What makes a test try this share of all cases."""
    return settings(
        max_examples=max(1, round(ALL * percent / 100)),
        derandomize=QUICK,
        database=None,
        deadline=None,
        phases=[Phase.generate] if QUICK else [Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def refused_well() -> Iterator[None]:
    """A block that may raise an error of demur's, if it is one clear line."""
    try:
        yield
    except DemurError as error:
        said = str(error)
        assert said.strip() and "\n" not in said and len(said) < 3000, said
