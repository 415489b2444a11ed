"""What a run is made by: the parts of demur whose editions are in its key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from demur import registry
from demur.editions import editions, named_in
from demur.errors import UsageError
from demur.specs import parse

if TYPE_CHECKING:
    from demur.experiments.recipe import Stage
    from demur.experiments.runs import Run


def editions_of(run: Run) -> dict[str, int]:
    """The editions of all parts that a run is made by; neither data nor models need be there."""
    return editions(_parts(run))


def _parts(run: Run) -> Iterator[str]:
    table, row, column = run.table, run.row, run.column
    yield f"table {table.kind}"
    for kind in ("ranker", "reader", "qualifier", "doubt"):
        yield from _of(run, kind, getattr(row, kind))
    yield from _of(run, "reader", row.others)
    yield from _learnt(run, row.trainer, row.stage)
    for name in (column.data, column.fit, column.train, column.dev, *_data(row.stage)):
        yield from _datasets(name)
    for measure in table.measures:
        yield from _registered("measure", measure)
    for convention in table.conventions:
        yield from _registered("convention", convention)


def _of(run: Run, kind: str, spec: str) -> Iterator[str]:
    """What a spec names, also in braces."""
    if not spec:
        return
    yield from named_in(spec, kinds=(kind,))
    for model in run.table.model:
        if f"{{{model.name}}}" in spec:
            yield from _learnt(run, model.trainer, model.stage)
            for name in _data(model.stage):
                yield from _datasets(name)
    for vectors in run.table.vectors:
        own = "{vectors}" in spec and run.column.vectors == vectors.name
        if own or f"{{{vectors.name}}}" in spec:
            yield f"vectors {vectors.model}"
            for name in vectors.data:
                yield from _datasets(name)


def _learnt(run: Run, trainer: str, stages: list[Stage]) -> Iterator[str]:
    for spec in (trainer, *(stage.trainer for stage in stages)):
        yield from _of(run, "trainer", spec)


def _data(stages: list[Stage]) -> Iterator[str]:
    for stage in stages:
        yield from (stage.data, stage.dev)


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
