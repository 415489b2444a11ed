"""Which settings are best on the dev set: all of a grid, or those that Optuna proposes.

Each trial trains the recipe with other settings, and is measured on the last stage's dev set. Trials are
noted one by one, so a search that was killed goes on; stages that no trial changes are trained once.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.errors import Astray, UsageError, require
from demur.specs import Setting, parse, spell
from demur.training import innermost
from demur.training.base import Reporter, silent
from demur.training.dev_set import sole
from demur.training.loop.distributed import leads
from demur.training.readers.examples import QUOTING

if TYPE_CHECKING:
    from demur.training.recipes.stages import Recipe

METHODS = ("grid", "tpe", "random")
QUESTIONS = "questions"
_RANGE = {"low", "high", "log"}
_LOOKED_AT = 1000  # settings, before any is tried


@dataclass(frozen=True)
class Search:
    """What is tried: of each setting in `space` a list of values, or a range ``{low, high, log}``.

    A setting is the last stage's trainer's, or ``questions``, how many of the last stage's are learnt from;
    ``1.epochs`` is that of the first stage.

    A `grid` has all combinations of lists. `tpe` and `random` draw so many `trials`, also from ranges; tpe
    learns from those before. `measure` is a mean over `seeds` seeds, from the recipe's on.
    """

    space: dict[str, Any]
    method: str = "grid"
    trials: int = 20
    measure: str = "MAP"
    seeds: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UsageError(f"search.method={self.method!r} is not known; use {', '.join(METHODS)}")
        if not self.space:
            raise UsageError("search.space is empty; name settings and the values to try")
        if min(self.trials, self.seeds) < 1:
            raise UsageError("search.trials and search.seeds must be 1 or more")
        if self.measure not in QUOTING:
            sole(self.measure, "search.measure")
        for key, values in self.space.items():
            _checked(key, values, self.method)


@dataclass(frozen=True)
class Trial:
    """Settings that were tried, and what they came to on the dev set: the mean, and seed by seed.

    There is no value where training diverged.
    """

    settings: dict[str, Setting]
    value: float | None
    values: list[float] = field(default_factory=list)

    @property
    def rank(self) -> float:
        """What trials are compared by: those without a value are below all others."""
        return -math.inf if self.value is None else self.value


def search(recipe: Recipe, work: Path | None = None, report: Reporter = silent) -> tuple[Recipe, list[Trial]]:
    """The recipe with the best settings in its last stage, and all trials in the order of their making."""
    from demur.training.recipes.stages import pools_of

    wanted = recipe.search
    if wanted is None:
        return recipe, []
    last = innermost(recipe.by(recipe.stage[-1]))
    if last is not None and last.reads != (wanted.measure in QUOTING) and last.name != "mini":
        fix = "name EM or F1" if last.reads else "name one such as MAP"
        raise UsageError(f"search.measure={wanted.measure} says nothing of what {last.name} makes; {fix}")
    if not any(pool.positives for pool in pools_of(recipe.stage[-1].dev)):
        raise UsageError("a search needs a dev set with right answers in the last stage; name it with dev=")
    for key in wanted.space:
        number, name = _place(recipe, key)
        by = recipe.by(recipe.stage[number])
        if name != QUESTIONS and name not in {each.name for each in fields(by) if each.init}:  # type: ignore[arg-type]
            raise UsageError(
                f"search.space names {key}, which {by.name} does not have; docs/settings.md has its settings"
            )
    said = {**parse(recipe.stage[-1].trainer or recipe.trainer).settings}
    said |= recipe.said(recipe.stage[-1])
    if wanted.seeds > 1 and "seed" in said:
        raise UsageError(
            "the trainer or stage says its seed, so all seeds of a search would be the same; leave it"
        )
    ends = [v if isinstance(v, list) else [v["low"], v["high"]] for v in wanted.space.values()]
    for values in itertools.islice(itertools.product(*ends), _LOOKED_AT):  # no mistake is found after hours
        _with(recipe, dict(zip(wanted.space, values, strict=True)))
    log = None if work is None else work / f"{_key(recipe)}.trials"
    known = _noted(log)
    done: list[Trial] = []
    for settings in _proposed(wanted, done):
        facts = {"trial": len(done) + 1, "trials": _count(wanted)}
        trial = known.get(_spelled(settings))
        if trial is None:
            trial = _tried(recipe, settings, work, _also(report, facts))
            _note(log, trial)
            known[_spelled(settings)] = trial
        done.append(trial)
    best = max(done, key=lambda trial: trial.rank)  # of equals the first
    if best.value is None:
        raise UsageError("with none of the settings did training come to an end; lower learning_rate")
    return _with(recipe, best.settings), done


def _also(report: Reporter, facts: Mapping[str, int]) -> Reporter:
    return lambda said: report({**said, **facts})


def _tried(recipe: Recipe, settings: Mapping[str, Setting], work: Path | None, report: Reporter) -> Trial:
    """Train and measure, seed by seed. The models go again: they may be large, and there are many."""
    from demur.evaluation import evaluate
    from demur.reading.base import Reader
    from demur.training.readers.examples import measured, quoted
    from demur.training.recipes import stages

    wanted = recipe.search
    assert wanted is not None  # the caller has looked
    dev = stages.pools_of(recipe.stage[-1].dev)
    values: list[float] = []
    for seed in range(recipe.seed, recipe.seed + wanted.seeds):
        trial = replace(_with(recipe, settings), seed=seed)
        try:
            ranker, _ = stages.run(trial, work, report)
        except Astray:  # a result of these settings, and no reason to try no others
            return Trial(dict(settings), None, values)
        if quoted(ranker, dev):
            assert isinstance(ranker, Reader)
            values.append(measured(ranker, dev, wanted.measure))
        else:
            report_of = evaluate(ranker, dev, [wanted.measure])
            values.append(report_of.measures[next(iter(report_of.measures))].mean)
        stages.forget_last(trial, work)
    return Trial(dict(settings), math.fsum(values) / len(values), values)


def _place(recipe: Recipe, key: str) -> tuple[int, str]:
    """Which stage a key of the space is about, and what it is called there."""
    number, dot, name = key.partition(".")
    if not dot:
        return len(recipe.stage) - 1, key
    if not (number.isdecimal() and 1 <= int(number) <= len(recipe.stage)):
        raise UsageError(
            f"search.space names {key}, but there are stages 1 to {len(recipe.stage)}; "
            "begin it with one of these"
        )
    return int(number) - 1, name


def _with(recipe: Recipe, settings: Mapping[str, Setting]) -> Recipe:
    """The recipe with these settings in its stages, and nothing left to search for."""
    stages = list(recipe.stage)
    for key, value in settings.items():
        number, name = _place(recipe, key)
        if name == QUESTIONS:
            if not isinstance(value, int):
                raise UsageError(f"search.space.{key} must be whole numbers, not {value!r}")
            stages[number] = replace(stages[number], questions=value)
            continue
        said = {**parse(f"stage({stages[number].settings})").settings, name: value}
        spelled = ", ".join(f"{each}={spell(what)}" for each, what in said.items())
        stages[number] = replace(stages[number], settings=spelled)
    return replace(recipe, stage=stages, search=None)


def _proposed(wanted: Search, done: Sequence[Trial]) -> Iterator[dict[str, Setting]]:
    """The settings of each trial; those of tpe depend on what the trials in `done` came to."""
    if wanted.method == "grid":
        for values in itertools.product(*wanted.space.values()):
            yield dict(zip(wanted.space, values, strict=True))
        return
    optuna: Any = require("optuna", extra="search")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    samplers = {"tpe": optuna.samplers.TPESampler, "random": optuna.samplers.RandomSampler}
    study = optuna.create_study(direction="maximize", sampler=samplers[wanted.method](seed=wanted.seed))
    space = {key: _distribution(values, optuna.distributions) for key, values in wanted.space.items()}
    for number in range(wanted.trials):
        asked = study.ask(space)
        yield dict(asked.params)
        value = done[number].value
        study.tell(asked, value, None if value is not None else optuna.trial.TrialState.FAIL)


def _distribution(values: Any, kinds: Any) -> Any:
    if isinstance(values, list):
        return kinds.CategoricalDistribution(values)
    low, high, log = values["low"], values["high"], values.get("log", False)
    whole = isinstance(low, int) and isinstance(high, int)
    return (kinds.IntDistribution if whole else kinds.FloatDistribution)(low, high, log=log)


def _checked(key: str, values: Any, method: str) -> None:
    if isinstance(values, list) and values and all(isinstance(each, str | int | float) for each in values):
        return
    if not (isinstance(values, dict) and {"low", "high"} <= values.keys() <= _RANGE):
        raise UsageError(f"search.space.{key} must be a list of values, or a range {{low=…, high=…, log=…}}")
    low, high = values["low"], values["high"]
    if not all(isinstance(each, int | float) for each in (low, high)) or not low < high:
        raise UsageError(f"search.space.{key} must have numbers, and low below high")
    if values.get("log") and low <= 0:
        raise UsageError(f"search.space.{key} is logarithmic, so low must be above 0")
    if method == "grid":
        raise UsageError(f"a grid needs a list of values for {key}; or set search.method to tpe or random")


def _count(wanted: Search) -> int:
    return math.prod(map(len, wanted.space.values())) if wanted.method == "grid" else wanted.trials


def _spelled(settings: Mapping[str, Setting]) -> str:
    return json.dumps(settings, sort_keys=True)


def _noted(log: Path | None) -> dict[str, Trial]:
    """The trials that were made before; a last line that a kill cut off is none."""
    if log is None or not log.is_file():
        return {}
    found = {}
    for line in log.read_text("utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            trial = Trial(**json.loads(line))
            found[_spelled(trial.settings)] = trial
    return found


def _note(log: Path | None, trial: Trial) -> None:
    if log is None or not leads():
        return
    whole = log.read_text("utf-8").rpartition("\n") if log.is_file() else ("", "", "")
    if whole[2]:  # cut off by a kill
        log.write_text(whole[0] + whole[1], "utf-8")
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(trial)) + "\n")


def _key(recipe: Recipe) -> str:
    """A hash of the recipe and of what it learns from: trials of another one do not count."""
    from demur.training.recipes.stages import key

    wanted = recipe.search
    assert wanted is not None  # the caller has looked
    return key(recipe, json.dumps([wanted.measure, wanted.seeds]))
