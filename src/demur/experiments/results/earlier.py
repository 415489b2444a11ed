"""Results of an earlier edition: made before keys held editions; confirmed or not by running some again.

Their files are left as they are. What `demur reproduce PAPER TABLE --verify N --record` finds is written into
``results/confirmed.json``: the cells of each family of rows that were run again, and how far they came out
from what is kept. A family whose cells all came again is taken as confirmed; one of whose cells did not is
stale, and made anew by `demur reproduce`; what nobody has run again is shown, and marked as that. What was
made by code that was not committed is shown as well, and made anew.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.experiments.results.provenance import DIRTY
from demur.renamed import first_spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.experiments.kinds.base import Result
    from demur.experiments.runs import Run
    from demur.experiments.tables import Cell

RECORD = "confirmed.json"
CONFIRMED, EARLIER, STALE, UNCLEAN = "confirmed", "earlier", "stale", "dirty"
SIGNS = {CONFIRMED: "°", EARLIER: "‡", STALE: "§", UNCLEAN: "+"}
WORST = (STALE, UNCLEAN, EARLIER, CONFIRMED)
"""Of a cell over several seeds, the first of these counts."""
SAID = {
    CONFIRMED: "made by an earlier edition, confirmed by rerun of {cells}",
    EARLIER: "made by an earlier edition; no cell of its kind was run again yet",
    STALE: "out of date: a rerun came out otherwise, or the recipe or an edition has changed since; "
    "`demur reproduce` makes it anew",
    UNCLEAN: "made by code that was not committed; `demur reproduce` makes it anew",
}
_STATED = ("ranker", "qualifier", "reader", "doubt", "trainer")
"""What results say of the row that they are of, as the recipe does."""


def is_earlier(found: Result) -> bool:
    """Whether a result was made before keys held editions."""
    return "editions" not in found


def family(run: Run) -> str:
    """The kind of cell that stands for another: rows of one group of a table are made by the same code."""
    return f"{run.table.paper}/{run.table.table}: {run.row.group or run.row.name}"


def holds(run: Run, found: Result, data: str, results: Path) -> bool:
    """Whether an earlier result may stand: of the same data, by committed code, and not contradicted."""
    same = found["data_sha256"] == data and found["seed"] == run.seed
    named = not found.get("commit", DIRTY).endswith(DIRTY)
    return same and named and origin(run, found, results) != STALE


def origin(run: Run, found: Result, results: Path) -> str:
    """What a table has to say of a result's origin; nothing of a clean one by the editions of today."""
    if is_earlier(found):
        if max(run.editions.values(), default=1) > 1 or not _as_stated(run, found):
            return STALE  # all editions were 1 when keys came to hold them
        cells = speaking(run, results)
        return EARLIER if not cells else CONFIRMED if all(cell["holds"] for cell in cells) else STALE
    if found["editions"] != run.editions or not _as_stated(run, found):
        return STALE
    return UNCLEAN if found["commit"].endswith(DIRTY) else ""


def speaking(run: Run, results: Path) -> list[Result]:
    """The cells of a run's family that speak for its earlier results: those run again of such results.

    One that was made by the editions of today says nothing of what was made before.
    """
    return [cell for cell in record(results).get(family(run), ()) if cell.get("earlier", True)]


def record(results: Path) -> dict[str, list[Result]]:
    """By family, the cells that were run again."""
    file = results / RECORD
    return _read(file, file.stat().st_mtime_ns) if file.is_file() else {}


@lru_cache(maxsize=4)
def _read(file: Path, when: int) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = json.loads(file.read_text("utf-8"))
    return found


def _as_stated(run: Run, found: Result) -> bool:
    """Whether the recipe still says what the result says of itself, as far as it does."""
    from demur.experiments.models.cached_models import steps_of

    row: Any = run.row
    named = [name for name in _STATED if name in found and (name != "ranker" or run.table.kind != "gates")]
    stages = [[step.data, step.dev, step.settings] for step in steps_of(row, run.column, run.seed)]
    said = [[found[name] for name in named], found.get("stages", stages)]
    now = [[getattr(row, name) for name in named], stages]
    return first_spelled(json.dumps(said)) == first_spelled(json.dumps(now))


def sign(cell: Cell) -> str:
    """What stands behind a figure that is not of a clean run by the editions of today."""
    return f"<sup>{SIGNS[cell.origin]}</sup>" if cell.origin else ""


def legend(cells: Sequence[Cell]) -> str:
    """What the signs in a table mean, as far as they occur there."""
    shown = [cell for cell in cells if cell.mean is not None]
    counts = sorted({cell.confirmed for cell in shown if cell.origin == CONFIRMED})
    some = "–".join(str(n) for n in dict.fromkeys((*counts[:1], *counts[-1:])))
    said = {
        name: text.format(cells=f"{some} cell{'s' * (some != '1')} of its kind")
        for name, text in SAID.items()
    }
    there = {cell.origin for cell in shown}
    return "; ".join(f"{SIGNS[name]} {said[name]}" for name in SIGNS if name in there)
