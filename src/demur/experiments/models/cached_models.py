"""The rankers of rows that learn, in the cache: stage after stage, each from what the one before came to.

A stage's model has a folder named by a hash of its data, its settings and all stages before it. So a stage
that many rows share is run once. Editions are a part of the hash: see `demur.editions`.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur import cache, data, precision, store
from demur.editions import editions, named_in
from demur.embedders import embedder
from demur.experiments.models.cache_keys import LEARNING, anywhere, depends
from demur.experiments.models.specs import models_of
from demur.experiments.recipe import Column, Row
from demur.locks import in_turn
from demur.rankers import Ranker
from demur.rankers.opening import open_model
from demur.renamed import first_spelled
from demur.specs import parse
from demur.training import Trainer, trainer
from demur.training.recipes.run_stages import StageJob, run_stages
from demur.types import Pool

if TYPE_CHECKING:
    from demur.experiments.runs import Run

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Step:
    """A stage with the column's data in their place, and the trainer that takes it."""

    data: str
    dev: str
    settings: str
    by: Trainer


@lru_cache(maxsize=24)
def pools_of(names: str) -> tuple[Pool, ...]:
    """The pools of ids joined by +, one after the other."""
    return tuple(pool for name in names.split("+") if name.strip() for pool in data.pools(name.strip()))


def relevant_of(names: str) -> int:
    """The lowest label of a right answer in the pools of ids joined by +."""
    return max([1, *(data.pools(name.strip()).relevant for name in names.split("+") if name.strip())])


@lru_cache(maxsize=256)
def hash_of(names: str) -> str:
    """The hash of the pools of ids joined by +."""
    return fingerprint(pools_of(names))


def forget() -> None:
    """Read all pools anew from here on: files may have changed."""
    pools_of.cache_clear()
    hash_of.cache_clear()


def steps_of(row: Row, column: Column, seed: int) -> list[Step]:
    """The stages of a row."""
    found = []
    for stage in row.stage:
        target = stage.data == "train"
        settings = ", ".join(each for each in (column.settings if target else "", stage.settings) if each)
        by = trainer_at(stage.trainer or row.trainer, seed if stage.seed is None else stage.seed, settings)
        dev = column.dev if stage.dev == "dev" else stage.dev
        found.append(Step(column.train if target else stage.data, dev, settings, by))
    return found


def steps_behind(run: Run) -> list[list[Step]]:
    """The stages of a run's row, and of each model that it stands on."""
    named = [(replace(run.row, trainer=each.trainer, stage=each.stage), each.seed) for each in models_of(run)]
    return [steps_of(row, run.column, seed) for row, seed in ((run.row, run.seed), *named)]


def trainer_at(spec: str, seed: int, settings: str) -> Trainer:
    """The trainer of a spec with a stage's settings, those that it has, the seed, and the usual precision."""
    built, wanted = trainer(spec), parse(spec)
    said: dict[str, Any] = {**parse(f"stage({settings})").settings, "seed": seed}
    if built.precision == precision.AUTO:
        said.setdefault("precision", LEARNING.get(built.name, "bf16"))
    return trainer(
        spec, **{k: v for k, v in said.items() if k in built.settings and k not in wanted.settings}
    )


def ranker_of(steps: Sequence[Step]) -> Ranker | None:
    """What some stages came to; None of no stages."""
    return open_model(folder_of(steps)) if steps else None


def folder_of(steps: Sequence[Step]) -> Path:
    """The folder of what some stages came to, from the cache where they were run before.

    While another run makes one of these stages, this one waits for it.
    """
    folder = model_folder(steps)
    if not store.is_model(folder):
        parts = [steps[:number] for number in range(1, 1 + len(steps))]
        with ExitStack() as stack:
            for part in parts[_last_kept(parts) :]:
                if not store.is_model(model_folder(part)):  # one that is there may be gone on from by many
                    stack.enter_context(_in_turn(model_folder(part)))
            run_stages([_job(part) for part in parts[_last_kept(parts) :]])  # what came before may be gone
    for line in store.open_folder(folder, check=False).made.get("log", []):
        if "precision" in line:
            precision.note("learning", line["precision"])
    return folder


def _last_kept(parts: Sequence[Sequence[Step]]) -> int:
    """The place of the last stage whose model is there; 0 if none is."""
    return max([at for at, part in enumerate(parts) if store.is_model(model_folder(part))], default=0)


def _in_turn(place: Path) -> AbstractContextManager[None]:
    """A block in which no other run makes the model of a stage."""
    said = f"another run is training {place.name}, which this one needs too; waiting for it"
    return in_turn(place.with_name(f"{place.name}.lock"), lambda: _log.warning(said))


def _job(steps: Sequence[Step]) -> StageJob:
    """The last of some stages, as it is run: its model lies in the cache, its checkpoints beside it."""
    folder, last = model_folder(steps), steps[-1]
    said = [[step.data, step.dev, step.by.spec] for step in steps]
    return StageJob(
        last.by,
        lambda: (pools_of(last.data), pools_of(last.dev)),
        lambda log, seconds: {"stages": said, "log": log},
        folder,
        Path(f"{folder}.part"),
    )


def model_folder(steps: Sequence[Step]) -> Path:
    """Where what some stages came to lies, once it is there."""
    return cache.folder("models") / key(steps)


def fingerprints(steps: Sequence[Step]) -> list[str]:
    """Of each stage the hash of what it came to; an empty one where that is not kept."""
    folders = [model_folder(steps[:number]) for number in range(1, 1 + len(steps))]
    return [
        store.open_folder(each, check=False).fingerprint if store.is_model(each) else "" for each in folders
    ]


def trained_by(step: Step, start: Ranker | None) -> Ranker:
    """The ranker that one stage teaches, which is not kept."""
    return step.by.train(pools_of(step.data), pools_of(step.dev), start=start)


def by_epoch(steps: Sequence[Step]) -> list[list[tuple[int, float]]]:
    """Of each stage its epochs, with what dev said of them; none of one that wrote none down, or is gone."""
    found = []
    for number in range(1, 1 + len(steps)):
        folder = model_folder(steps[:number])
        log = store.open_folder(folder, check=False).made.get("log", []) if store.is_model(folder) else []
        whole = [line for line in log if "dev" in line and "member" not in line]  # not of a part of a vote
        found.append([(int(line["epoch"]), float(line["dev"])) for line in whole])
    return found


def embed(step: Step) -> None:
    """Embed the texts that a trainer with features will see, so that they are in the cache."""
    if features := step.by.features:
        from demur.training.small_nets.examples import vectors_of

        pools = [*pools_of(step.data), *pools_of(step.dev)]
        texts = [text for pool in pools for text in (pool.question, *pool.answers)]
        vectors_of(list(dict.fromkeys(texts)), embedder(features))


def raised(by: Trainer) -> int:
    """One number for the editions of a trainer and all its parts: it grows with each of them."""
    parts = named_in(anywhere(by.spec), kinds=("trainer",))
    return 1 + sum(edition - 1 for edition in editions(parts).values())


def key(steps: Sequence[Step]) -> str:
    """The hash of all that stages depend on, wherever the cache lies: what it holds is named by its hash."""
    said = [
        [hash_of(s.data), hash_of(s.dev), anywhere(s.by.known_by), raised(s.by), depends(s.by)] for s in steps
    ]
    return hashlib.sha256(first_spelled(json.dumps(said)).encode()).hexdigest()[:16]


def fingerprint(pools: Sequence[Pool]) -> str:
    """A hash of everything in some pools that a ranker or a measure can see."""
    digest = hashlib.sha256()
    for pool in pools:
        row = [pool.id, pool.question, [[c.id, c.text, c.label] for c in pool.candidates]]
        digest.update(json.dumps(row).encode())
    return digest.hexdigest()[:16]
