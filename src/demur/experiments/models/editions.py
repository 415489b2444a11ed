"""What a run is made by: the parts of demur whose editions are in its key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from demur import registry
from demur.editions import editions, named_in
from demur.errors import UsageError
from demur.experiments.models.specs import models_of, specs_of, vectors_of
from demur.specs import parse

if TYPE_CHECKING:
    from demur.experiments.runs import Run


def editions_of(run: Run) -> dict[str, int]:
    """The editions of all parts that a run is made by; neither data nor models need be there."""
    return editions(_parts(run))


def _parts(run: Run) -> Iterator[str]:
    table, row, column = run.table, run.row, run.column
    models, vectors = models_of(run), vectors_of(run)
    yield f"table {table.kind}"
    for kind, spec in specs_of(run):
        yield from named_in(spec, kinds=(kind,))
    for each in vectors:
        yield f"vectors {each.model}"
    stages = [*row.stage, *(stage for model in models for stage in model.stage)]
    own = (column.data, column.fit, column.train, column.dev)
    learnt = (name for stage in stages for name in (stage.data, stage.dev))
    for name in (*own, *learnt, *(name for each in vectors for name in each.data)):
        yield from _datasets(name)
    for measure in table.measures:
        yield from _registered("measure", measure)
    for convention in table.conventions:
        yield from _registered("convention", convention)


def _datasets(names: str) -> Iterator[str]:
    for name in names.split("+"):
        dataset = name.strip().partition("/")[0]
        if dataset in registry.OURS["dataset"]:
            yield f"dataset {dataset}"


def _registered(kind: str, spec: str) -> Iterator[str]:
    """A part of a kind, if it is registered: tables have measures and rules of their own besides."""
    from demur.evaluation.conventions import CONVENTIONS

    try:
        name = parse(spec).name
    except UsageError:  # such as ``gain AURC``
        return
    if name in (CONVENTIONS if kind == "convention" else registry.OURS[kind]):
        yield f"{kind} {name}"
