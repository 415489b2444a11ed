"""The ranker of a run: built from its spec, or trained stage by stage; and what it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.embedders.word_vectors.dataset_vectors import dataset_vectors, vectors_file
from demur.embedders.word_vectors.skipgram import Training
from demur.errors import UsageError
from demur.experiments.models import cached_models
from demur.experiments.models.cache_keys import anywhere
from demur.experiments.models.specs import models_of, vectors_of
from demur.experiments.recipe import Model, Row, Vectors
from demur.rankers import Ranker, ranker
from demur.rankers.vectors.recipe_encoder import in_floats

if TYPE_CHECKING:
    from demur.experiments.kinds.base import Result
    from demur.experiments.runs import Run


def spelled(run: Run, spec: str, there: bool = True) -> str:
    """A spec of a recipe with files of word vectors and folders of models in place of names in braces.

    ``{vectors}`` stands for those that the column names. What is not there is made, if it is to be `there`.
    """
    for model in run.table.model:
        if f"{{{model.name}}}" in spec:
            steps = _stages(run, model, model.seed, there)
            folder = cached_models.folder_of(steps) if there else cached_models.model_folder(steps)
            spec = spec.replace(f"{{{model.name}}}", str(folder))
    for vectors in run.table.vectors:
        names = [vectors.name] + ["vectors"] * (run.column.vectors == vectors.name)
        for name in names:
            if f"{{{name}}}" in spec:
                found = (dataset_vectors if there else vectors_file)(vectors.data, _how(vectors))
                spec = spec.replace(f"{{{name}}}", str(found))
    if "{" in spec:
        raise UsageError(
            f"{spec}: nothing is called so; add [[vectors]] or [[model]], or vectors to the column"
        )
    return spec


def identity(run: Run, spec: str) -> str:
    """A spec with names that depend on what models and vectors are made from, not on what came out.

    They need not be made for it; nor are two that were made on different machines alike to the last bit.
    """
    return anywhere(spelled(run, spec, there=False))


def word_vectors(run: Run) -> dict[str, Path]:
    """The files of all word vectors that a run stands on, by their names in its recipe."""
    found = {each.name: vectors_file(each.data, _how(each)) for each in vectors_of(run)}
    return {name: file for name, file in found.items() if file.is_file()}


def _how(vectors: Vectors) -> Training:
    settings = asdict(vectors)
    return Training(**{name: settings[name] for name in settings if name not in ("name", "data")})


def untrained_ranker(run: Run) -> Ranker:
    """The ranker of a run that learns nothing, with the run's seed where it takes one."""
    spec = in_floats(spelled(run, run.row.ranker))
    found = ranker(spec)
    return ranker(spec, seed=run.seed) if "seed" in found.settings else found


def stages(run: Run, there: bool = True) -> list[cached_models.Step]:
    """The stages of a run, the column's data and settings in their place, and what they name there or not."""
    return _stages(run, run.row, run.seed, there)


def _stages(run: Run, made: Row | Model, seed: int, there: bool) -> list[cached_models.Step]:
    stage = [replace(each, trainer=spelled(run, each.trainer, there)) for each in made.stage]
    row = Row(made.name, trainer=spelled(run, made.trainer, there), stage=stage)
    return cached_models.steps_of(row, run.column, seed)


def model_hashes(run: Run) -> dict[str, list[str]]:
    """Of a run's stages, and of those of each model that it stands on, the hashes of what they came to.

    One recipe and seed come to other weights on another machine; a recipe does not say which network it was.
    """
    own = _stages(run, run.row, run.seed, there=False)
    made = {"stages": own[:-1] if run.table.kind == "curves" else own}  # a curve's last stage is not kept
    made |= {f"{{{each.name}}}": _stages(run, each, each.seed, there=False) for each in models_of(run)}
    return {name: cached_models.fingerprints(steps) for name, steps in made.items() if steps}


def run_ranker(run: Run) -> Ranker:
    """The ranker of a run."""
    if run.row.ranker:
        return untrained_ranker(run)
    trained = cached_models.ranker_of(stages(run))
    if trained is None:
        raise UsageError(
            f"row {run.row.name!r} has no stage to learn from; give it a [[row.stage]] with data"
        )
    return trained


def by_epoch(run: Run) -> Result:
    """What dev said after each epoch of each stage of a run that learns, if anything."""
    found = cached_models.by_epoch(stages(run)) if run.row.trainer else []
    return {"epochs": found} if any(found) else {}


def maker(run: Run) -> dict[str, Any]:
    """What the ranker of a run depends on."""
    if run.row.ranker:
        whole = "{" not in run.row.ranker  # and names nothing that would have to be made
        return {
            "ranker": run.row.ranker,
            "made of": untrained_ranker(run).fingerprint if whole else identity(run, run.row.ranker),
        }
    steps = stages(run, there=False)
    said = [[step.data, step.dev, step.settings] for step in steps]
    return {"trainer": run.row.trainer, "stages": said, "made of": cached_models.key(steps)}


def prepare(run: Run) -> None:
    """Make what runs share before several processes begin: vectors, all stages but the last, embeddings."""
    if run.row.trainer:
        steps = stages(run)
        cached_models.ranker_of(steps[:-1])
        cached_models.embed(steps[-1])
        cached_models.embed(replace(steps[-1], data=run.column.data))


__all__: Sequence[str] = [
    "identity",
    "maker",
    "prepare",
    "run_ranker",
    "stages",
    "untrained_ranker",
    "word_vectors",
]
