"""Stages of training that are run one after the other; what is kept of them is not run again.

Recipes of `demur train` and tables of papers both run their stages here. They differ in where a model is
kept, by which key, and in what is written down beside it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demur import store
from demur.errors import UsageError
from demur.rankers import Ranker, open_model
from demur.rankers.opening import save
from demur.training import Reporter, Trainer, innermost
from demur.training.base import noting, silent
from demur.training.loop.distributed import leads
from demur.types import Pool

Log = list[dict[str, Any]]


@dataclass(frozen=True)
class StageJob:
    """A stage that is ready to run: its trainer, its pools and dev set, and where its model is kept."""

    by: Trainer
    data: Callable[[], tuple[Sequence[Pool], Sequence[Pool]]]
    facts: Callable[[Log, float], dict[str, Any]]
    """What is written down beside the model, from its log and the seconds that it took."""
    folder: Path | None = None
    checkpoints: Path | None = None

    @property
    def is_kept(self) -> bool:
        """Whether its model is there."""
        return self.folder is not None and store.is_model(self.folder)


def run_stages(jobs: Sequence[StageJob], report: Reporter = silent) -> tuple[Ranker, list[dict[str, Any]]]:
    """The ranker that all stages make, and the facts of each of them; those whose models are kept are opened.

    The report says of each fact which stage of how many it is from. A run that was killed goes on from the
    last model and the last checkpoint, and ends with the same model.
    """
    _check(jobs)
    ranker: Ranker | None = None
    facts: list[dict[str, Any]] = []
    for number, job in enumerate(jobs, 1):
        if job.folder is not None and job.is_kept:
            ranker = open_model(job.folder)
            facts.append(dict(store.open_folder(job.folder, check=False).made))
            continue
        log: Log = []

        def told(said: dict[str, Any], number: int = number) -> None:
            report({**said, "stage": number, "stages": len(jobs)})

        started = time.monotonic()
        pools, dev = job.data()
        ranker = job.by.train(pools, dev, start=ranker, checkpoints=job.checkpoints, report=noting(log, told))
        facts.append(job.facts(log, round(time.monotonic() - started, 1)))
        if job.folder is not None and leads():
            save(ranker, job.folder, facts[-1])
            if job.checkpoints is not None:
                shutil.rmtree(job.checkpoints, ignore_errors=True)  # they are larger than the model
            if number < len(jobs):
                ranker = open_model(job.folder)  # the next stage starts as it would after a kill
    if ranker is None:
        raise UsageError("a recipe needs at least one [[stage]] with data")
    return ranker, facts


def _check(jobs: Sequence[StageJob]) -> None:
    """Raise an error for a mistake in any stage now, and not after hours of training."""
    before: Trainer | None = None
    for job in jobs:
        if not job.is_kept:
            if before is None or type(innermost(before)).__module__.startswith("demur."):
                job.by.follows(before)  # after trainers of other packages, who knows
            job.by.check(*job.data())
        before = job.by
