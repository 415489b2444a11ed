"""The README.md of a trained model: what it is, what it has learnt from, how well it does, how to use it."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from demur import __version__
from demur.data import sources
from demur.evaluation import Report
from demur.rankers import Ranker
from demur.reading.base import Reader
from demur.specs import parse
from demur.training.dev_set import NEVER
from demur.training.recipes.search import Trial
from demur.training.recipes.stages import Done, Recipe, pools_of
from demur.types import Pool

_PACKAGES = ("torch", "numpy", "transformers", "gensim")
_SHOWN = 12  # epochs of a long log: the first and the last


def text(
    ranker: Ranker,
    recipe: Recipe,
    done: Sequence[Done],
    dev: Report | None,
    trials: Sequence[Trial] = (),
) -> str:
    """The page, in Markdown; `dev` is what was measured on the last stage's dev set."""
    learnt = ", then ".join(f"`{stage.data}`" for stage in done)
    scale = f", scale `{recipe.scale}`" if recipe.scale else ""
    parts = [
        f"# A {_kind(ranker)}\n\nTrained by demur {__version__} on {learnt}.",
        _quoting() if isinstance(ranker, Reader) else use(),
        *(_stage(number, stage) for number, stage in enumerate(done, 1)),
        _measures(dev, looks(done[-1]) or bool(trials), 0 if dev is None else _met(recipe)),
        *([_trials(trials)] if trials else []),
        "## Data and their terms\n\n" + "\n".join(_terms(done)),
        f"## How it was made\n\nTrainer `{recipe.trainer}`{scale}, seed {recipe.seed}; {versions()}. The "
        "log, epoch by epoch, is in `log.jsonl`; what each file must be is in `ranker.json`.",
    ]
    return "\n\n".join(parts) + "\n"


def _kind(ranker: Ranker) -> str:
    kind = "reader" if isinstance(ranker, Reader) else "ranker"
    return ranker.name if kind in ranker.name else f"{ranker.name} {kind}"


def _quoting() -> str:
    lines = ['reader = demur.reader("THIS FOLDER")']
    lines += ['span = reader.read("a question", "a passage")  # or None']
    ready = (
        "The span has its place in the passage and its words. It is None where no answer scores more than "
        "`threshold` above the best span; `read_all` gives the best spans with their probabilities too."
    )
    return _usage(lines, ready)


def use() -> str:
    """How a ranker in a folder is used, as a section of its page."""
    lines = ['ranker = demur.ranker("THIS FOLDER")']
    lines += ['ranking = ranker.rank("a question", ["an answer", "another"])']
    ready = (
        "Scores put the answers to one question in order; they are not probabilities. For a promise on how "
        "often the best answer is wrong, run `demur calibrate THIS-FOLDER LABELLED --risk 0.1`."
    )
    return _usage(lines, ready)


def _usage(lines: list[str], ready: str) -> str:
    code = "\n".join(["```python", "import demur", "", *lines, "```"])
    return f"## How to use it\n\n{code}\n\n{ready}"


def _stage(number: int, stage: Done) -> str:
    seen = stage.counts
    facts = [
        f"## Stage {number}: {stage.data}\n",
        f"{seen['pools']:,} questions, {seen['pairs']:,} judged answers, {seen['right']:,} of them right; "
        f"{_looked(stage)}; {stage.seconds:,.0f} seconds{_precision(stage.log)}.\n",
        f"`{stage.trainer}`",
    ]
    return "\n".join(facts) + _log(stage.log)


def _precision(log: Sequence[Mapping[str, Any]]) -> str:
    """In which precision was learnt, as the log has it."""
    found = dict.fromkeys(str(line["precision"]) for line in log if "precision" in line)
    return f", in {' and '.join(found)}" if found else ""


def looks(stage: Done) -> bool:
    """Whether a stage's dev set had a say in what it came to."""
    if stage.log and not any("dev" in line for line in stage.log):
        return False  # no question of it has right and wrong answers
    said = parse(stage.trainer).settings
    take, patience = said.get("take", "best"), said.get("patience", 0)
    if take == "last" or (take in ("all", "committee", "average") and said.get("weights") != "dev"):
        return bool(stage.dev and patience)  # what is taken was not chosen by it
    return bool(stage.dev) and said.get("early", "said by none") not in NEVER


def _looked(stage: Done) -> str:
    """What a stage's dev set was there for."""
    if not looks(stage):
        return "early stopping on nothing"
    stops = parse(stage.trainer).settings.get("patience", 0)
    return f"early stopping on `{stage.dev}`" if stops else f"`{stage.dev}` said what is best"


def _log(log: Sequence[Mapping[str, Any]]) -> str:
    """The log as a table; of a long one the first and the last lines."""
    if not log:
        return ""
    keys = list(dict.fromkeys(key for line in log for key in line if key != "precision"))
    shown: list[Mapping[str, Any] | None] = [*log]
    if len(log) > _SHOWN:
        shown = [*log[: _SHOWN // 2], None, *log[-_SHOWN // 2 :]]
    rows = [["…" if line is None else _figure(line.get(key)) for key in keys] for line in shown]
    table = [f"| {' | '.join(cells)} |" for cells in (keys, ["---"] * len(keys), *rows)]
    return "\n\n" + "\n".join(table)


def _figure(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _met(recipe: Recipe) -> int:
    """How many questions of the last stage's dev set are among those that were learnt from."""
    learnt = {_asked(pool) for stage in recipe.stage for pool in recipe.pools(stage)[0]}
    return sum(_asked(pool) in learnt for pool in pools_of(recipe.stage[-1].dev))


def _asked(pool: Pool) -> tuple[str, frozenset[str]]:
    return pool.question, frozenset(pool.answers)


def _measures(dev: Report | None, looked: bool, met: int) -> str:
    if dev is None:
        none = "there was no dev set with right and wrong answers"
        return f"## How good it is\n\nNot measured: {none}. Run `demur evaluate`."
    rows = [
        f"| {measure} | {found.mean:.4f} | {found.low:.4f} – {found.high:.4f} |"
        for measure, found in dev.measures.items()
    ]
    said = f"On `{dev.data}`, {dev.pools:,} questions, convention `{dev.convention}`, 95 % intervals. "
    warning = (
        "Training looked at these questions to choose among what it had, so new ones may go worse."
        if looked
        else "Training has not looked at them."
    )
    if met:
        warning = f"{met:,} of these questions were learnt from, so new ones go worse."
    table = ["| measure | mean | interval |", "| --- | --- | --- |", *rows]
    return f"## How good it is\n\n{said}{warning}\n\n" + "\n".join(table)


def _trials(trials: Sequence[Trial]) -> str:
    """The settings that were tried, the best first."""
    best = sorted(trials, key=lambda trial: -trial.rank)
    keys = list(best[0].settings)
    rows = [
        [*(_figure(trial.settings[key]) for key in keys), _reached(trial.value)] for trial in best[:_SHOWN]
    ]
    table = [f"| {' | '.join(cells)} |" for cells in ([*keys, "dev"], ["---"] * (len(keys) + 1), *rows)]
    more = "" if len(best) <= _SHOWN else f" The best {_SHOWN} of them:"
    said = f"{len(best)} settings were tried, and the best on the dev set was taken: it looks better there "
    return f"## How its settings were found\n\n{said}than it is.{more}\n\n" + "\n".join(table)


def _reached(value: float | None) -> str:
    return "diverged" if value is None else f"{value:.4f}"


def _terms(done: Sequence[Done]) -> list[str]:
    ids = [name.strip() for stage in done for each in (stage.data, stage.dev) for name in each.split("+")]
    lines = []
    for name in dict.fromkeys(id.partition("/")[0] if not Path(id).exists() else id for id in ids if id):
        if name in sources.known():
            facts = sources.facts(name)
            lines.append(f"- {name}: licence {facts.licence}. {facts.citation}.")
        else:
            lines.append(f"- `{name}`: of your own; its terms are for you to say.")
    return lines


def versions() -> str:
    """What a model was made with."""
    found = [f"Python {platform.python_version()}"]
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)
