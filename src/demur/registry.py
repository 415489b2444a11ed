"""THE list of what demur has by name: kind -> name -> "module:attribute".

Packages outside demur add to it by entry points in the group ``demur.<kind>``, such as ``demur.ranker``.
Nothing is imported before it is asked for.
"""

from __future__ import annotations

import importlib
from importlib.metadata import entry_points
from typing import Any

from demur.errors import UnknownName

OURS: dict[str, dict[str, str]] = {
    "ranker": {
        "bm25": "demur.rankers.bm25:BM25",
        "length": "demur.rankers.simple:Length",
        "overlap": "demur.rankers.overlap:Overlap",
        "random": "demur.rankers.simple:Random",
    },
    "dataset": {
        "antique": "demur.data.loaders.antique:load",
        "asnq": "demur.data.loaders.asnq:load",
        "fiqa": "demur.data.loaders.fiqa:load",
        "insuranceqa": "demur.data.loaders.insuranceqa:load",
        "selqa": "demur.data.loaders.selqa:load",
        "semeval2016": "demur.data.loaders.semeval2016:load",
        "squad": "demur.data.loaders.squad:load",
        "squad-t": "demur.data.transfer:load",
        "trecqa": "demur.data.loaders.trecqa:load",
        "wikiqa": "demur.data.loaders.wikiqa:load",
        "yahoocqa": "demur.data.loaders.yahoocqa:load",
    },
    "measure": {},
}


def names(kind: str) -> list[str]:
    """The names registered for a kind, sorted: ours and those of installed packages."""
    return sorted({*OURS[kind], *(point.name for point in entry_points(group=f"demur.{kind}"))})


def find(kind: str, name: str) -> Any:
    """The object registered under a name; ours win over another package's."""
    if name in OURS[kind]:
        module, _, attribute = OURS[kind][name].partition(":")
        return getattr(importlib.import_module(module), attribute)
    for point in entry_points(group=f"demur.{kind}", name=name):
        return point.load()
    raise UnknownName(kind, name, names(kind))
