"""Rankers: numpy in, numpy out."""

from __future__ import annotations

import inspect

from demur import registry
from demur.errors import UsageError
from demur.rankers.base import Ranker
from demur.specs import Setting, parse

__all__ = ["Ranker", "ranker"]


def ranker(spec: str | Ranker, **settings: Setting) -> Ranker:
    """The ranker a spec names, such as ``bm25`` or ``bm25(k1=0.9, stats=dataset)``."""
    if isinstance(spec, Ranker):
        return spec
    wanted = parse(spec)
    kind = registry.find("ranker", wanted.name)
    settings = {**wanted.settings, **settings}
    allowed = inspect.signature(kind).parameters
    for key in settings:
        if key not in allowed:
            known = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
            raise UsageError(f"ranker {wanted.name!r} has no setting {key!r}; {known}")
    built: Ranker = kind(**settings)
    return built
