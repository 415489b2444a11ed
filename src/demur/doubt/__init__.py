"""Doubt in what a reader quotes: what its layers say of each token, and how sure that makes its answer."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demur.doubt.base import Doubt, doubt
    from demur.doubt.doubt_folder import Kept, opened, save, taught
    from demur.doubt.observed import Observed
    from demur.doubt.observing import observe
    from demur.doubt.probes import Probes

__all__ = ["Doubt", "Kept", "Observed", "Probes", "doubt", "observe", "opened", "save", "taught"]

_HOMES = {
    **{"Doubt": "base", "doubt": "base", "Observed": "observed", "Probes": "probes", "observe": "observing"},
    **{"Kept": "doubt_folder", "opened": "doubt_folder", "save": "doubt_folder", "taught": "doubt_folder"},
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'demur.doubt' has no attribute {name!r}")
    return getattr(importlib.import_module(f"demur.doubt.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
