"""Doubt in what a reader quotes: what its layers say of each token, and how sure that makes its answer."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demur.doubt.base import Doubt, doubt
    from demur.doubt.doubt_folder import TrainedDoubt, open_doubt, save, train_doubt
    from demur.doubt.observed import Observed
    from demur.doubt.observing import observe
    from demur.doubt.probing.probes import Probes

__all__ = [
    "Doubt",
    "Observed",
    "Probes",
    "TrainedDoubt",
    "doubt",
    "observe",
    "open_doubt",
    "save",
    "train_doubt",
]

_HOMES = {
    **{"Doubt": "base", "doubt": "base", "Observed": "observed", "Probes": "probing.probes"},
    **{
        "observe": "observing",
        "TrainedDoubt": "doubt_folder",
        "open_doubt": "doubt_folder",
        "save": "doubt_folder",
        "train_doubt": "doubt_folder",
    },
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"demur.doubt.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
