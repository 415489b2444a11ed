"""`demur train`: one or more stages of training, from a recipe or from options, into a model folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demur.cli.console import JsonFlag, emit, note, status, stdout, warnings_noted

if TYPE_CHECKING:
    from demur.training.recipes.make_model import Made
    from demur.training.recipes.stages import Recipe


def train(
    recipe: Annotated[
        Path | None, typer.Argument(metavar="[RECIPE.toml]", help="A trainer and its stages; or use --data.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="The folder for the model.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="Training data, without a recipe: labelled pools, a dataset or a "
            "file; several are joined by +."
        ),
    ] = None,
    dev: Annotated[
        str | None,
        typer.Option(help="Dev set: other labelled pools, for early stopping and evaluation."),
    ] = None,
    trainer: Annotated[
        str | None,
        typer.Option(help="The trainer with its settings, see docs/settings.md. Default: a siamese net."),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(help="Train a cross-encoder from this encoder: minilm, mpnet, a folder, or a hub id."),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            help="Number format of torch: bf16, fp32, or fp16 on a GPU; auto is the fastest here. Small "
            "nets, such as siamese, always learn in fp32."
        ),
    ] = None,
    scale: Annotated[str | None, typer.Option(help="One of the recipe's scales, such as full.")] = None,
    questions: Annotated[
        int, typer.Option(min=0, help="Number of questions of --data to learn from; 0 is all.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Train a ranker on labels. The same command resumes a run that was stopped."""
    from demur.errors import UsageError
    from demur.reading import Reader
    from demur.training.loop.distributed import leads
    from demur.training.recipes.make_model import make

    if output is None:
        raise UsageError("name the model's folder with -o")
    wanted = _recipe(recipe, data, dev, _trainer(trainer, base, precision), scale, questions, seed)
    with warnings_noted(), _shown() as report:
        made = make(wanted, output, report)
    if not leads():  # of several processes one speaks
        return
    if json:
        emit(_facts(made))
        return
    console = stdout()
    for name, found in made.dev.measures.items() if made.dev else ():
        console.print(f"{name:6} {found.mean:.4f}  {found.low:.4f} – {found.high:.4f}", markup=False)
    if made.dev:
        console.print(
            f"on {made.dev.data}, {made.dev.pools:,} questions, {made.dev.convention}", markup=False
        )
    judged, seen = (sum(stage.counts[what] for stage in made.stages) for what in ("pairs", "pools"))
    on = f"{judged:,} labelled answers" if judged else f"{seen:,} questions without labels"
    if isinstance(made.ranker, Reader):
        on = f"{seen:,} questions"
    already = "already trained, and left as it is: " if made.before else ""
    note(f"{already}trained on {on}: {made.folder}")


def _recipe(
    path: Path | None,
    data: str | None,
    dev: str | None,
    trainer: str | None,
    scale: str | None,
    questions: int,
    seed: int,
) -> Recipe:
    """The recipe in a file, or of one stage as the options say."""
    from dataclasses import replace

    from demur import toml
    from demur.errors import UsageError
    from demur.training.recipes.stages import Recipe, Stage

    if (path is None) == (data is None):
        raise UsageError("name a recipe, or labelled pools with --data; one of the two")
    if path is not None:
        if dev or trainer or questions or seed:
            what = "--dev, --trainer, --base, --precision, --questions and --seed need --data"
            raise UsageError(f"{what}; a recipe has its own")
        found = toml.read_toml(Recipe, path)
        return found if scale is None else replace(found, scale=scale)
    if scale is not None:
        raise UsageError("--scale is one of a recipe's; without a recipe, say --questions and --trainer")
    return Recipe(trainer or "siamese(loss=pairwise)", [Stage(data or "", dev or "", questions)], seed)


DEFAULT = "cross-encoder(early=MAP, epochs=3, learning_rate=3e-5, loss=listwise, quick=true)"
"""What `--base` is taught by, if nothing else is said."""


def _trainer(trainer: str | None, base: str | None, precision: str | None = None) -> str | None:
    """The trainer's spec, with the encoder to begin from and the precision to compute in."""
    from demur.errors import UsageError

    if base is not None:
        trainer = _with(trainer or DEFAULT, "base", base)
    if precision is None:
        return trainer
    if trainer is None:
        raise UsageError("--precision needs --base or --trainer; the default net has none")
    return _with(trainer, "precision", precision)


def _with(trainer: str, name: str, value: str) -> str:
    """A trainer with one more setting; one that has a student hands it on."""
    import inspect

    from demur import registry
    from demur.errors import UsageError
    from demur.specs import Spec, parse

    wanted = parse(trainer)
    if name in wanted.settings:
        raise UsageError(f"the {name} is given in --trainer and in --{name}; give it once")
    takes = inspect.signature(registry.find("trainer", wanted.name)).parameters
    if name in takes or "student" not in takes:
        more = {name: value}
    else:
        more = {"student": _with(str(wanted.settings.get("student", takes["student"].default)), name, value)}
    return str(Spec(wanted.name, {**wanted.settings, **more}, wanted.at))


def _facts(made: Made) -> dict[str, Any]:
    from dataclasses import asdict

    measures = {} if made.dev is None else {n: asdict(found) for n, found in made.dev.measures.items()}
    return {
        "output": str(made.folder),
        "ranker": made.ranker.spec,
        "fingerprint": made.ranker.fingerprint,
        "stages": [asdict(stage) for stage in made.stages],
        "dev": measures,
        **({"trials": [asdict(trial) for trial in made.trials]} if made.trials else {}),
    }


@contextmanager
def _shown() -> Iterator[Callable[[dict[str, Any]], None]]:
    """A report that is one changing line on a terminal, and a line a minute elsewhere."""
    with status("getting ready", logged=60) as tell:
        yield lambda facts: tell(line(facts))


def line(facts: dict[str, Any]) -> str:
    """The facts of a report as one line."""
    parts = [f"trial {facts['trial']} of {facts['trials']}"] if "trial" in facts else []
    parts += [f"stage {facts['stage']} of {facts['stages']}"]
    for name in ("epoch", "step"):
        of = f" of {facts[f'{name}s']}" if f"{name}s" in facts else ""
        parts += [f"{name} {facts[name]}{of}"] if name in facts else []
    parts += [f"{facts['share']:.0%}"] if "share" in facts else []
    parts += [f"{name} {facts[name]:.4f}" for name in ("loss", "dev") if facts.get(name) is not None]
    if facts.get("pairs_per_second"):
        parts.append(f"{facts['pairs_per_second']:,.0f} a second")
    if facts.get("seconds_left"):
        parts.append(f"{facts['seconds_left'] / 60:,.0f} min left")
    return ", ".join(parts)
