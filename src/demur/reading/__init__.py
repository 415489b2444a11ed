"""Answers as stretches of text: readers that quote them, when two say the same, what others have answered."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demur.reading.base import Quote, Reader, Reading
    from demur.reading.opening import reader
    from demur.reading.spans import View

__all__ = ["Quote", "Reader", "Reading", "View", "reader"]

_HOMES = {"Quote": "base", "Reader": "base", "Reading": "base", "View": "spans", "reader": "opening"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'demur.reading' has no attribute {name!r}")
    return getattr(importlib.import_module(f"demur.reading.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
