"""Readers by what they quote: exact match and F1, with and without an answer to give.

A column's `train`, if it has one, is what probes learn from where a table of kind reading has the same reader
and data: what was seen there is not read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from demur.evaluation.readers import evaluate_answers
from demur.experiments.kinds.base import Figure, Kind, Loaded, Result
from demur.experiments.kinds.reading import probes_for, reader_identity, readers
from demur.experiments.models import reader_cache
from demur.reading import squad

if TYPE_CHECKING:
    from demur.experiments.runs import Run

BEST = "best "
"""What begins the name of a measure at the threshold that is best in hindsight, such as ``best F1``."""


class Quoting(Kind):
    """Measures are ``EM``, ``F1``, ``HasAns-F1`` and the like, and ``best F1``."""

    def depends(self, run: Run) -> Result:
        """The reader."""
        return {"reader": reader_identity(run, run.row.reader), "measures": run.table.measures}

    def result(self, run: Run, loaded: Loaded) -> Result:
        """The figures by measure; null where the questions have none."""
        reader, _ = readers(run)
        seen = reader_cache.predictions(reader, loaded.pools, probes_for(reader, run))
        given = [text if says else "" for text, says in zip(seen.texts, seen.says.tolist(), strict=True)]
        measures = evaluate_answers(given, loaded.pools).measures
        figures = {name: (found.mean, found.low, found.high) for name, found in measures.items()}
        always = squad.score(loaded.pools, seen.texts, squad.version_of(loaded.pools))
        best = {
            name: squad.best(values, always, seen.odds)
            for name, values in (("EM", always.exact), ("F1", always.f1))
        }
        ours = {f"{BEST}{name}": (found.mean, None, None) for name, found in best.items()}
        known = figures | (ours if "HasAns-EM" in figures else {})
        return {
            "reader": run.row.reader,
            "pools": len(loaded.pools),
            "figures": {name: known.get(name) for name in run.table.measures},
        }

    def outcomes(self, found: Sequence[Result]) -> tuple[int, int, int] | None:
        """The counts behind EM and its two parts: of questions with an answer, and of those without."""
        given = [found[0]["figures"].get(name) for name in ("EM", "HasAns-EM", "NoAns-EM")] if found else []
        if not given or None in given:
            return None
        pools, (whole, full, void) = int(found[0]["pools"]), (each[0] for each in given)
        if full == void:  # any parts would come to that whole
            return None
        answerable = round(pools * (whole - void) / (full - void))
        return round(answerable * full), round((pools - answerable) * (1 - void)), pools

    def figure(
        self, found: Sequence[Result], convention: str, measure: str, point: str = ""
    ) -> Figure | None:
        """The figure of the one run."""
        return Figure.of(found[0]["figures"].get(measure), found[0]["pools"]) if found else None
