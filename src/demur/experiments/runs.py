"""One run: a row with one seed over one dataset, judged, and kept under results/ (see `stored`).

Its key is a hash of the data, the settings, the seed and the editions of what makes it. While the key
stays the same the run is not run again.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from demur import precision
from demur.embedders.caching import disk_cache
from demur.experiments.kinds import KINDS, Kind, Loaded
from demur.experiments.kinds.base import Result
from demur.experiments.models.cache_keys import as_kept
from demur.experiments.models.editions import editions_of
from demur.experiments.recipe import Column, Row, Table, slug
from demur.experiments.results import earlier, provenance, stored
from demur.renamed import first_spelled


@dataclass(frozen=True)
class Run:
    """What one result is about."""

    table: Table
    row: Row
    column: Column
    seed: int

    @property
    def kind(self) -> Kind:
        """What is run."""
        return KINDS[self.table.kind]

    @property
    def file(self) -> str:
        """The path below results/ of the file that a new result is written to."""
        names = [self.table.paper, self.table.table, self.row.name, f"{self.column.name}-seed{self.seed}"]
        return "/".join(map(slug, names)) + ".json"

    @cached_property
    def editions(self) -> dict[str, int]:
        """The editions of all parts of demur that the result is made by."""
        return editions_of(self)

    def key(self, data: str) -> str:
        """The hash of all that the result depends on; `data` is the hash of the data."""
        depends = {"data": data, "editions": self.editions, "settings": self.kind.depends(self)}
        return hashlib.sha256(first_spelled(json.dumps(depends, sort_keys=True)).encode()).hexdigest()[:16]


def stored_result(run: Run, results: Path) -> Result | None:
    """What was kept of a run, however old."""
    return stored.read_result(results, run.file)


def fresh_result(run: Run, results: Path, loaded: Loaded) -> Result | None:
    """What was kept of a run, if nothing that it depends on has changed; see `earlier` for old results."""
    found = stored_result(run, results)
    if found is None:
        return None
    if earlier.is_earlier(found):
        return found if earlier.holds(run, found, loaded.sha, results) else None
    return found if found["key"] == run.key(loaded.sha) else None


@as_kept()
def perform(run: Run, results: Path, loaded: Loaded, dirty: bool = True) -> Result:
    """The result of a run: the one that is there if nothing it depends on has changed, or else a new one.

    Unless it may be `dirty`, it is refused where it could not name the commit that made it.
    """
    if (found := fresh_result(run, results, loaded)) is not None:
        return found
    if not dirty:
        provenance.refuse_dirty()
    key, began = run.key(loaded.sha), time.perf_counter()
    with disk_cache(), precision.noted() as taken:
        found_now = run.kind.result(run, loaded)
    result = {
        "key": key,
        "table": f"{run.table.paper}/{run.table.table}",
        "row": run.row.name,
        "column": run.column.name,
        "data": run.column.data,
        "data_sha256": loaded.sha,
        "seed": run.seed,
        "settings": run.kind.depends(run),
        "editions": run.editions,
        **provenance.run_facts(run, time.perf_counter() - began, taken),
        **found_now,
    }
    stored.write_result(results, run.file, result)
    return result
