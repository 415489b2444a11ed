"""Doubt in what a reader quotes: what its layers say of each token, and how sure that makes its answer."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from demur.renamed import old_names

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

_old = old_names(__name__, {"opened": "open_doubt", "taught": "train_doubt", "Kept": "TrainedDoubt"})


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        return _old(name)
    return getattr(importlib.import_module(f"demur.doubt.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
