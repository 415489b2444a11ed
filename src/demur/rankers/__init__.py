"""Rankers: numpy in, numpy out."""

from __future__ import annotations

from demur import registry
from demur.errors import UsageError
from demur.rankers.base import Ranker
from demur.specs import Setting

__all__ = ["Ranker", "ranker"]


def ranker(spec: str | Ranker, **settings: Setting) -> Ranker:
    """The ranker a spec names, such as ``bm25`` or ``bm25(k1=0.9, stats=dataset)``."""
    if isinstance(spec, Ranker):
        if settings:
            fix = "give its name instead, or use dataclasses.replace"
            raise UsageError(f"{spec.spec} is built already and takes no {', '.join(settings)}; {fix}")
        return spec
    built: Ranker = registry.build("ranker", spec, settings)
    return built
