"""Recipes of `demur train`: stages, each of which goes on from the one before, first on other data, say.

What is done is kept until all stages are, each under a hash of all that it depends on; see `run_stages`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from demur import __version__, data
from demur.data.subsets import sample
from demur.errors import DataError, UsageError
from demur.rankers import Ranker
from demur.specs import Setting, parse
from demur.training import Reporter, Trainer, trainer
from demur.training.base import silent
from demur.training.dev_set import right_or_wrong
from demur.training.loop.distributed import leads
from demur.training.recipes.run_stages import StageJob, run_stages
from demur.training.recipes.search import Search
from demur.types import Pool


@dataclass(frozen=True)
class Stage:
    """What is learnt from: ids or files joined by ``+``, and the same for what early stopping looks at.

    Of the data at most so many `questions` are taken, drawn by the seed; fewer lie within more. `settings`
    are the trainer's in this stage, such as ``margin=0.05, epochs=100``. A stage may have another `trainer`
    than the recipe, if the one can start from what the other made.
    """

    data: str
    dev: str = ""
    questions: int = 0
    settings: str = ""
    trainer: str = ""

    def __post_init__(self) -> None:
        _checked(self.questions)


def _checked(questions: int) -> None:
    if questions < 0:
        raise UsageError(f"questions={questions} must be 0, for all, or more")


@dataclass(frozen=True)
class Scale:
    """What the stages of a recipe are where there is much time, or little.

    `settings` are those of the trainer, and `questions` is how many of each stage's data are taken at most,
    in stages that do not say these themselves.
    """

    settings: str = ""
    questions: int = 0

    def __post_init__(self) -> None:
        _checked(self.questions)


@dataclass(frozen=True)
class Recipe:
    """A trainer and the stages it goes through, with one seed for all that is drawn.

    With `search`, settings of the last stage are first tried on its dev set, and the best are taken. Of its
    `scales`, such as ``cpu`` and ``full``, `scale` names the one that it is run at.
    """

    trainer: str
    stage: list[Stage]
    seed: int = 0
    search: Search | None = None
    scale: str = ""
    scales: dict[str, Scale] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.scale or self.scales:
            self._check_scales()
        if not self.stage:
            raise UsageError("a recipe needs at least one [[stage]] with data")
        if self.seed < 0:
            raise UsageError(f"seed={self.seed} must be 0 or more")
        for stage in self.stage:  # so that a mistake in the last is not found after hours
            self.by(stage)

    def _check_scales(self) -> None:
        if self.scale not in self.scales:
            known = f"its scales are {', '.join(self.scales)}" if self.scales else "it has no scales"
            raise UsageError(f"scale={self.scale!r} is not one of the recipe's; {known}")
        for name in self.scales.keys() - {self.scale}:
            replace(self, scales={name: self.scales[name]}, scale=name)  # checks it

    def said(self, stage: Stage) -> dict[str, Setting]:
        """The trainer's settings in a stage: those of the scale, and the stage's own."""
        scale = self.scales.get(self.scale, Scale())
        return {**parse(f"scale({scale.settings})").settings, **parse(f"stage({stage.settings})").settings}

    def pools(self, stage: Stage) -> tuple[Sequence[Pool], Sequence[Pool]]:
        """What a stage learns from, and its dev set."""
        questions = stage.questions or self.scales.get(self.scale, Scale()).questions
        return right_or_wrong(pools_of(stage.data, questions, self.seed)), pools_of(stage.dev)

    def by(self, stage: Stage) -> Trainer:
        """The trainer as it is in a stage."""
        said = self.said(stage)
        spec = stage.trainer or self.trainer
        takes_seed = "seed" in trainer(spec).settings and "seed" not in parse(spec).settings
        return trainer(spec, **({"seed": self.seed} if takes_seed else {}) | said)


@dataclass(frozen=True)
class Done:
    """What a stage was: its data and trainer, what was seen, and its log, epoch by epoch."""

    data: str
    dev: str
    trainer: str
    counts: dict[str, int]
    log: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


def run(recipe: Recipe, work: Path | None = None, report: Reporter = silent) -> tuple[Ranker, list[Done]]:
    """The ranker that all stages make, and what each of them was; those done before lie in `work`.

    The report says of each fact which stage of how many it is from.
    """
    jobs = [_job(*each, work) for each in list(_keyed(recipe))]
    ranker, facts = run_stages(jobs, report)
    return ranker, [Done(**each) for each in facts]


def _job(
    stage: Stage, by: Trainer, pools: Sequence[Pool], dev: Sequence[Pool], known_by: str, work: Path | None
) -> StageJob:
    """A stage as it is run: its model and its checkpoints lie in `work`."""

    def facts(log: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
        return asdict(Done(stage.data, stage.dev, by.spec, counts(pools), log, seconds))

    folder = None if work is None else work / known_by
    checkpoints = None if work is None else work / f"{known_by}.standing"
    return StageJob(by, lambda: (pools, dev), facts, folder, checkpoints)


def _keyed(recipe: Recipe) -> Iterator[tuple[Stage, Trainer, Sequence[Pool], Sequence[Pool], str]]:
    """Each stage with its trainer and pools, and the hash of all that it depends on."""
    known_by = ""
    for stage in recipe.stage:
        by = recipe.by(stage)
        pools, dev = recipe.pools(stage)
        known_by = _key(known_by, by, pools, dev)
        yield stage, by, pools, dev, known_by


def key(recipe: Recipe, more: str = "") -> str:
    """A hash of all that a recipe's result depends on, and of something more."""
    *_, (*_, known_by) = _keyed(recipe)
    return hashlib.sha256(f"{known_by} {more}".encode()).hexdigest()[:16]


def forget_last(recipe: Recipe, work: Path | None) -> None:
    """Remove what was kept of a recipe's last stage."""
    if work is not None and leads():
        *_, (*_, known_by) = _keyed(recipe)
        shutil.rmtree(work / known_by, ignore_errors=True)


def pools_of(ids: str, questions: int = 0, seed: int = 0) -> Sequence[Pool]:
    """The pools of ids or files joined by ``+``; or a sample of so many of them.

    Those that are joined or sampled have the labels 0 and 1, as each of them says what is right.
    """
    names = [ids] if Path(ids).exists() else [name.strip() for name in ids.split("+")]
    loaded = [_some(name) for name in names if name]
    if len(loaded) == 1 and not questions:
        return loaded[0]
    together = [pool for pools in loaded for pool in data.binary(pools)]
    return list(sample(together, questions, seed)) if questions else together


def _some(name: str) -> Sequence[Pool]:
    pools = data.pools(name)
    if not len(pools):
        raise DataError("holds no questions", path=name, fix="name data that does, or leave it out")
    return pools


def counts(pools: Sequence[Pool]) -> dict[str, int]:
    """How many pools, judged pairs and right answers there are."""
    judged = [
        candidate.label for pool in pools for candidate in pool.candidates if candidate.label is not None
    ]
    return {"pools": len(pools), "pairs": len(judged), "right": sum(label > 0 for label in judged)}


def _key(before: str, by: Trainer, pools: Sequence[Pool], dev: Sequence[Pool]) -> str:
    """A hash of all that a stage depends on: the stages before it, the trainer, and what it sees."""
    digest = hashlib.sha256(json.dumps([before, by.known_by, by.edition, by.depends, __version__]).encode())
    for part in (pools, dev):
        for pool in part:
            digest.update(json.dumps(by.sees(pool)).encode())
        digest.update(b"\n")
    return digest.hexdigest()[:16]
