"""One run: a row with one seed over one dataset, judged, and kept in a file under results/.

The file's key is a hash of the data, the settings, the seed and the code that they depend on. While the key
stays the same the run is not run again.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from demur import precision
from demur.embedders.kept import keeping
from demur.experiments import code
from demur.experiments.kinds import KINDS, Kind, Loaded
from demur.experiments.kinds.base import Kept
from demur.experiments.known import as_kept
from demur.experiments.recipe import Column, Row, Table, slug
from demur.files import replacing


@dataclass(frozen=True)
class Run:
    """What one file under results/ is about."""

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
        """The file's path below results/."""
        names = [self.table.paper, self.table.table, self.row.name, f"{self.column.name}-seed{self.seed}"]
        return "/".join(map(slug, names)) + ".json"

    def key(self, data: str) -> str:
        """The hash of all that the result depends on; `data` is the hash of the data."""
        depends = {
            "data": data,
            "code": code.version(self.kind.modules(self)),
            **self.kind.depends(self),
        }
        return hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()[:16]


def kept(run: Run, results: Path) -> Kept | None:
    """What was kept of a run, however old."""
    file = results / run.file
    if not file.exists():
        return None
    found: Kept = json.loads(file.read_text("utf-8"))
    return found


def fresh(run: Run, results: Path, loaded: Loaded) -> Kept | None:
    """What was kept of a run, if nothing that it depends on has changed."""
    found = kept(run, results)
    return found if found is not None and found["key"] == run.key(loaded.sha) else None


@as_kept()
def perform(run: Run, results: Path, loaded: Loaded) -> Kept:
    """The result of a run: the one that is there if nothing it depends on has changed, or else a new one."""
    if (found := fresh(run, results, loaded)) is not None:
        return found
    key = run.key(loaded.sha)
    with keeping(), precision.noted() as taken:
        found_now = run.kind.result(run, loaded)
    result = {
        "key": key,
        "table": f"{run.table.paper}/{run.table.table}",
        "row": run.row.name,
        "column": run.column.name,
        "data": run.column.data,
        "data_sha256": loaded.sha,
        "seed": run.seed,
        "commit": _commit(),
        "command": f"demur reproduce {run.table.paper} {run.table.table}",
        **({"precision": {what: sorted(of) for what, of in taken.items()}} if taken else {}),
        **found_now,
    }
    file = results / run.file
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as out:
        json.dump(result, out, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        out.write("\n")
    return result


def _commit() -> str:
    """The commit of the clone that this runs in, with a + if files have changed since."""
    here = Path(__file__).parent

    def git(*words: str) -> str:
        try:
            done = subprocess.run(
                ["git", "-C", str(here), *words], capture_output=True, text=True, check=False
            )
        except FileNotFoundError:  # no git here: the result then names no commit
            return ""
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", str(here.parent))
    return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
