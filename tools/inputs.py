"""What a model is made from, looked at before hours go by: data, a larger encoder, networks there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from demur import store
from demur.data import pools, sources
from demur.embedders.encoders.loading import MPNET, located
from demur.errors import DemurError
from demur.training import trainer
from demur.training.recipes.stages import Recipe, Stage


def recipes_to_run(
    paths: Sequence[Path], networks: Sequence[Path], recipes: Sequence[Recipe]
) -> list[tuple[Recipe, Path]]:
    """The recipes after the last network that is there, with where theirs will lie.

    A network that is there must say that its recipe, as it is now, has made it; or that its weights were put
    there by `tools.unpack_mini`.
    """
    for path, recipe, network in zip(paths, recipes, networks, strict=True):
        if store.is_model(network) and (
            what := changed(recipe, store.open_folder(network, check=False).made)
        ):
            raise SystemExit(f"{network} was not made by {path.name} as it is now ({what}); move it away")
    last = max((n for n, network in enumerate(networks) if store.is_model(network)), default=-1)
    return list(zip(recipes, networks, strict=True))[last + 1 :]


def changed(recipe: Recipe, made: Mapping[str, Any]) -> str:
    """In what a recipe is another than the one that a model was made by; empty if in nothing.

    Settings that a trainer has got since are as they are by default.
    """
    if "stages" not in made:
        return "" if "from" in made else "it says of no stages"
    if made.get("seed", recipe.seed) != recipe.seed:
        return f"the seed was {made['seed']}"
    then = [_told(stage) for stage in made["stages"]]
    now = [(stage.data, stage.dev, recipe.by(stage).spec) for stage in recipe.stage]
    if len(then) != len(now):
        return f"it had {len(then)} stages"
    for number, (before, after) in enumerate(zip(then, now, strict=True), 1):
        for what, one, other in zip(("data", "dev set", "trainer"), before, after, strict=True):
            if one != other:
                return f"the {what} of stage {number} was {one}"
    return ""


def _told(stage: Any) -> tuple[str, str, str]:
    """Data, dev set and trainer of a stage, as `demur train` or a table's recipe wrote them down."""
    data, dev, by = (stage[name] for name in ("data", "dev", "trainer")) if isinstance(stage, dict) else stage
    try:
        return data, dev, trainer(by).spec
    except DemurError:  # it has other settings now
        return data, dev, by


def check(recipes: Iterable[Recipe], to_run: Iterable[Recipe], others: Iterable[str] = ()) -> None:
    """Raise one error for all that is missing: files of data, and the larger encoder where one teaches."""
    stages = [stage for recipe in recipes for stage in recipe.stage]
    names = dict.fromkeys([name for stage in stages for name in _named(stage)] + list(others))
    files = {file: name for name in reversed(names) for file in pools(name).files}
    missing = [f"{file} (for {name})" for file, name in reversed(files.items()) if not _there(file)]
    for recipe in to_run:
        if any(MPNET in recipe.by(stage).spec for stage in recipe.stage):
            try:
                located(MPNET)
            except DemurError as error:
                missing.append(f"all-mpnet-base-v2, which tools.assemble_mpnet puts there ({error})")
                break
    if missing:
        raise SystemExit("\n".join(["what is learnt from is not all here:", *missing]))


def _named(stage: Stage) -> Iterator[str]:
    for names in (stage.data, stage.dev):
        yield from (name.strip() for name in names.split("+") if name.strip())


def _there(file: str) -> bool:
    return Path(file).is_file() or sources.find_file(file) is not None
