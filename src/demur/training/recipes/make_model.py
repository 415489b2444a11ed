"""From a recipe to a model folder: weights, the log, and a card that says what the model is."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from demur import store
from demur.errors import DataError, count_of
from demur.evaluation import Report, evaluate
from demur.evaluation.readers import evaluate_reader
from demur.rankers import Ranker, open_model
from demur.rankers.opening import save
from demur.reading.base import Reader
from demur.specs import parse
from demur.training.base import Reporter, silent
from demur.training.dev_set import NEVER
from demur.training.loop.distributed import leads
from demur.training.readers.examples import quoted
from demur.training.recipes import model_card
from demur.training.recipes.search import Trial, search
from demur.training.recipes.stages import Done, Recipe, key, pools_of, run
from demur.training.recipes.work_folder import beside, work_folder

LOG, CARD, TRIALS = "log.jsonl", "README.md", "trials.jsonl"
MEASURES = ("MAP", "RR", "P@1")

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Made:
    """A model folder, and what was done for it."""

    folder: Path
    ranker: Ranker
    stages: Sequence[Done]
    dev: Report | None
    """What was measured on the last stage's dev set, if it has one with right answers."""
    trials: Sequence[Trial] = ()
    """The settings that were tried, if a search was asked for."""
    before: bool = False
    """Whether it lay there already, made by the same recipe from the same data."""


def make(recipe: Recipe, folder: Path, report: Reporter = silent) -> Made:
    """The model that a recipe makes, written into a folder; a run that was stopped resumes."""
    store.free(folder)
    known_by = key(recipe, json.dumps(asdict(recipe.search)) if recipe.search else "")
    if store.is_model(folder):
        return _found(recipe, known_by, folder)
    if not leads():  # one of several processes that learn together
        recipe, trials = search(recipe, beside(folder))
        ranker, done = run(recipe, beside(folder))
        return Made(folder, ranker, done, None, trials)
    _note_idle(recipe)
    with work_folder(folder) as work:
        recipe, trials = search(recipe, work, report)
        ranker, done = run(recipe, work, report)
        dev = _measured(ranker, recipe)
        measures = {} if dev is None else {name: asdict(found) for name, found in dev.measures.items()}
        facts = {"trainer": recipe.trainer, "seed": recipe.seed, "recipe": known_by}
        facts |= {"scale": recipe.scale} if recipe.scale else {}
        facts |= {"stages": [asdict(each) for each in done]}
        facts |= {"dev": measures} if measures else {}
        facts |= {"trials": [asdict(each) for each in trials]} if trials else {}
        lines = [{"stage": number, **line} for number, stage in enumerate(done, 1) for line in stage.log]
        log = "".join(json.dumps(line) + "\n" for line in lines)
        also = {LOG: log, CARD: model_card.text(ranker, recipe, done, dev, trials)}
        also |= {TRIALS: "".join(json.dumps(asdict(each)) + "\n" for each in trials)} if trials else {}
        save(ranker, folder, facts, also)
    return Made(folder, open_model(folder), done, dev, trials)


def _found(recipe: Recipe, known_by: str, folder: Path) -> Made:
    """The model that lies there, if the same recipe made it from the same data; else it would be lost."""
    made = store.open_folder(folder, check=False).made
    if made.get("recipe") != known_by:
        what = "holds a model that another recipe, other data or something else has made, which would be lost"
        raise DataError(what, path=folder, fix="name another folder, or move that one away")
    ranker, stages = open_model(folder), [Done(**each) for each in made["stages"]]
    trials = [Trial(**each) for each in made.get("trials", [])]
    return Made(folder, ranker, stages, _measured(ranker, recipe), trials, before=True)


def _note_idle(recipe: Recipe) -> None:
    """Say which of the settings that were written down do nothing."""
    written = [parse(stage.trainer or recipe.trainer).settings | recipe.said(stage) for stage in recipe.stage]
    early = next((each["early"] for each in written if each.get("early", "") not in NEVER), None)
    if early is not None and not any(stage.dev for stage in recipe.stage):
        _log.warning(
            f"early={early} does nothing without a dev set; name one with --dev, or as a stage's dev"
        )
    for stage in recipe.stage:
        if stage.questions > (there := len(pools_of(stage.data))):
            _log.warning(
                f"{stage.data} has {count_of(there, 'question')}, not {stage.questions:,}; all are taken"
            )


def _measured(ranker: Ranker, recipe: Recipe) -> Report | None:
    dev = pools_of(recipe.stage[-1].dev)
    if not any(pool.positives for pool in dev):
        return None
    if quoted(ranker, dev):
        assert isinstance(ranker, Reader)
        return evaluate_reader(ranker, dev, data=recipe.stage[-1].dev).report
    return evaluate(ranker, dev, MEASURES, data=recipe.stage[-1].dev)
