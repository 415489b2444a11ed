"""One run: a ranker with one seed over one dataset, judged, and kept in a file under results/.

The file's key is a hash of the data, the settings, the seed and the code that they depend on. While the key
stays the same the run is not run again.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demur import registry
from demur.evaluation import Report, evaluate
from demur.experiments import code
from demur.experiments.recipe import Column, Row, Table
from demur.files import replacing
from demur.rankers import Ranker, ranker
from demur.specs import parse
from demur.types import Pool

PRECISION = 6  # decimals kept of each pool's figure


@dataclass(frozen=True)
class Run:
    """What one file under results/ is about."""

    table: Table
    row: Row
    column: Column
    seed: int

    @property
    def file(self) -> str:
        """The file's path below results/."""
        names = [self.table.paper, self.table.table, self.row.name, f"{self.column.name}-seed{self.seed}"]
        return "/".join(re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") for name in names) + ".json"

    @property
    def ranker(self) -> Ranker:
        """The ranker with this run's seed, where it takes one."""
        takes_seed = hasattr(ranker(self.row.ranker), "seed")
        return ranker(self.row.ranker, **({"seed": self.seed} if takes_seed else {}))

    def key(self, pools: str) -> str:
        """The hash of all that the result depends on; `pools` is the hash of the data."""
        home = registry.OURS["ranker"].get(parse(self.row.ranker).name, "").partition(":")[0]
        modules = [module for module in (home, "demur.evaluation.evaluating") if module]
        depends = {
            "data": pools,
            "ranker": self.ranker.spec,
            "seed": self.seed,
            "measures": self.table.measures,
            "conventions": self.table.conventions,
            "code": code.version(modules),
        }
        return hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()[:16]


def fingerprint(pools: Sequence[Pool]) -> str:
    """A hash of everything in some pools that a ranker or a measure can see."""
    digest = hashlib.sha256()
    for pool in pools:
        row = [pool.id, pool.question, [[c.id, c.text, c.label] for c in pool.candidates]]
        digest.update(json.dumps(row).encode())
    return digest.hexdigest()[:16]


def kept(run: Run, results: Path) -> dict[str, Any] | None:
    """What was kept of a run, however old."""
    file = results / run.file
    if not file.exists():
        return None
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found


def perform(run: Run, results: Path, pools: Sequence[Pool], sha: str) -> dict[str, Any]:
    """The result of a run: the one that is there if nothing it depends on has changed, or else a new one."""
    key = run.key(sha)
    found = kept(run, results)
    if found is not None and found["key"] == key:
        return found
    prepared = run.ranker.prepare(pools)
    scores = prepared.score_pools(pools)
    result = {
        "key": key,
        "table": f"{run.table.paper}/{run.table.table}",
        "row": run.row.name,
        "column": run.column.name,
        "data": run.column.data,
        "data_sha256": sha,
        "ranker": prepared.spec,
        "seed": run.seed,
        "commit": _commit(),
        "command": f"demur reproduce {run.table.paper} {run.table.table}",
        "conventions": {
            name: _figures(evaluate(scores, pools, run.table.measures, name))
            for name in run.table.conventions
        },
    }
    file = results / run.file
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as out:
        json.dump(result, out, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        out.write("\n")
    return result


def _figures(report: Report) -> dict[str, Any]:
    """What is kept of a report: per measure, a figure for each pool; null where the convention skips it."""
    columns = {
        name: [None if value != value else round(value, PRECISION) for value in values.tolist()]
        for name, values in report.values.items()
    }
    return {"skipped": report.skipped, "pools": list(report.ids), "values": columns}


def _commit() -> str:
    """The commit of the clone that this runs in, with a + if files have changed since."""
    here = Path(__file__).parent

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(here), *words], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", str(here.parent))
    return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
