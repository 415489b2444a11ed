"""demur ranks candidate answers, quotes the best one, and says nothing when it cannot keep its promise."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from demur import processor

if TYPE_CHECKING:
    from demur.asking import ask
    from demur.data import load
    from demur.errors import DemurError, NoThreshold
    from demur.evaluation import compare, evaluate
    from demur.kb.folder import KnowledgeBase as kb  # noqa: N813  # called like it, and imported from too
    from demur.rankers import open_model as open
    from demur.rankers import ranker
    from demur.reading import reader
    from demur.risk.gates.gate import calibrate
    from demur.types import Abstention, Answer, Candidate, Pool, Ranking, Span

__version__ = "0.2.0"

__all__ = [
    "Abstention",
    "Answer",
    "Candidate",
    "DemurError",
    "NoThreshold",
    "Pool",
    "Ranking",
    "Span",
    "ask",
    "calibrate",
    "compare",
    "evaluate",
    "kb",
    "load",
    "open",
    "ranker",
    "reader",
]

_HOMES = {
    "Abstention": "types",
    "Answer": "types",
    "Candidate": "types",
    "DemurError": "errors",
    "NoThreshold": "errors",
    "Pool": "types",
    "Ranking": "types",
    "Span": "types",
    "ask": "asking",
    "calibrate": "risk.gates.gate",
    "compare": "evaluation",
    "evaluate": "evaluation",
    "kb": "kb:*",
    "load": "data",
    "open": "rankers:open_model",
    "ranker": "rankers",
    "reader": "reading",
}

processor.restrict()  # before numpy or torch is imported


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'demur' has no attribute {name!r}")
    home, _, called = _HOMES[name].partition(":")
    module = importlib.import_module(f"demur.{home}")
    return module if called == "*" else getattr(module, called or name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
