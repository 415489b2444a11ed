"""From a recipe to a model folder: weights, the log, and a card that says what the model is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from demur import store
from demur.errors import DataError
from demur.evaluation import Report as Measured
from demur.evaluation import evaluate
from demur.evaluation.quoted import evaluate_reader
from demur.rankers import Ranker, open_model
from demur.rankers.opening import save
from demur.reading.base import Reader
from demur.training import card
from demur.training.answers import quoted
from demur.training.base import Report, silent
from demur.training.search import Trial, search
from demur.training.stages import Done, Recipe, pools_of, run
from demur.training.together import leads
from demur.training.workplace import beside, workplace

LOG, CARD = "log.jsonl", "README.md"
MEASURES = ("MAP", "RR", "P@1")


@dataclass(frozen=True)
class Made:
    """A model folder, and what was done for it."""

    folder: Path
    ranker: Ranker
    stages: Sequence[Done]
    dev: Measured | None
    """What was measured on the last stage's dev set, if it has one with right answers."""
    trials: Sequence[Trial] = ()
    """The settings that were tried, if a search was asked for."""


def make(recipe: Recipe, folder: Path, report: Report = silent) -> Made:
    """The model that a recipe makes, written into a folder; a run that was stopped goes on where it was."""
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not store.is_model(folder)):
        raise DataError("is there already and is no model", path=folder, fix="name another folder")
    if store.is_model(folder):
        _check_own(recipe, store.opened(folder, check=False).made, folder)
    if not leads():  # one of several processes that learn together
        recipe, trials = search(recipe, beside(folder))
        ranker, done = run(recipe, beside(folder))
        return Made(folder, ranker, done, None, trials)
    with workplace(folder) as work:
        recipe, trials = search(recipe, work, report)
        ranker, done = run(recipe, work, report)
        dev = _measured(ranker, recipe)
        measures = {} if dev is None else {name: asdict(found) for name, found in dev.measures.items()}
        facts = {"trainer": recipe.trainer, "seed": recipe.seed, "stages": [asdict(each) for each in done]}
        facts |= {"dev": measures} if measures else {}
        facts |= {"trials": [asdict(each) for each in trials]} if trials else {}
        lines = [{"stage": number, **line} for number, stage in enumerate(done, 1) for line in stage.log]
        log = "".join(json.dumps(line) + "\n" for line in lines)
        save(ranker, folder, facts, {LOG: log, CARD: card.text(ranker, recipe, done, dev, trials)})
    return Made(folder, open_model(folder), done, dev, trials)


def _check_own(recipe: Recipe, made: Mapping[str, Any], folder: Path) -> None:
    """Nothing, if the same command made the model that lies there; else an error, as it would be lost."""
    before = made.get("trainer"), made.get("seed"), [stage.get("data") for stage in made.get("stages", [])]
    if before != (recipe.trainer, recipe.seed, [stage.data for stage in recipe.stage]):
        what = "holds a model that something else has made, which would be lost"
        raise DataError(what, path=folder, fix="name another folder, or move that one away")


def _measured(ranker: Ranker, recipe: Recipe) -> Measured | None:
    dev = pools_of(recipe.stage[-1].dev)
    if not any(pool.positives for pool in dev):
        return None
    if quoted(ranker, dev):
        assert isinstance(ranker, Reader)
        return evaluate_reader(ranker, dev, data=recipe.stage[-1].dev).report
    return evaluate(ranker, dev, MEASURES, data=recipe.stage[-1].dev)
