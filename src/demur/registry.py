"""THE list of what demur has by name: kind -> name -> "module:attribute".

Packages outside demur add to it by entry points in the group ``demur.<kind>``, such as ``demur.ranker``.
Nothing is imported before it is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from demur.errors import UnknownName

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OURS: dict[str, dict[str, str]] = {
    "ranker": {
        "bm25": "demur.rankers.bm25:BM25",
        "length": "demur.rankers.simple:Length",
        "overlap": "demur.rankers.overlap:Overlap",
        "random": "demur.rankers.simple:Random",
    },
    "dataset": {
        "antique": "demur.data.loaders.antique:LOADER",
        "asnq": "demur.data.loaders.asnq:LOADER",
        "example": "demur.asking.example:LOADER",
        "fiqa": "demur.data.loaders.fiqa:LOADER",
        "insuranceqa": "demur.data.loaders.insuranceqa:LOADER",
        "selqa": "demur.data.loaders.selqa:LOADER",
        "semeval2016": "demur.data.loaders.semeval2016:LOADER",
        "squad": "demur.data.loaders.squad:LOADER",
        "squad-t": "demur.data.transfer:LOADER",
        "trecqa": "demur.data.loaders.trecqa:LOADER",
        "wikiqa": "demur.data.loaders.wikiqa:LOADER",
        "yahoocqa": "demur.data.loaders.yahoocqa:LOADER",
    },
    "measure": {
        "AP": "demur.evaluation.measures:MAP",
        "MAP": "demur.evaluation.measures:MAP",
        "MRR": "demur.evaluation.measures:RR",
        "P": "demur.evaluation.measures:P",
        "R": "demur.evaluation.measures:R",
        "RR": "demur.evaluation.measures:RR",
        "Success": "demur.evaluation.measures:Success",
        "nDCG": "demur.evaluation.measures:nDCG",
    },
}


def names(kind: str) -> list[str]:
    """The names registered for a kind, sorted: ours and those of installed packages."""
    return sorted({*OURS[kind], *(point.name for point in _entry_points(kind))})


def find(kind: str, name: str) -> Any:
    """The object registered under a name; ours win over another package's."""
    if name in OURS[kind]:
        module, _, attribute = OURS[kind][name].partition(":")
        return getattr(importlib.import_module(module), attribute)
    for point in _entry_points(kind):
        if point.name == name:
            return point.load()
    raise UnknownName(kind, name, names(kind))


def _entry_points(kind: str) -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # slow to import, and rarely needed

    return entry_points(group=f"demur.{kind}")
