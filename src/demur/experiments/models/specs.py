"""What a run is told: its row's specs, and the models and word vectors that these name in braces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from demur.experiments.recipe import Model, Row, Vectors
    from demur.experiments.runs import Run


def specs_of(run: Run) -> Iterator[tuple[str, str]]:
    """The kind of each spec and the spec: those of a run's row, and of the models that they name."""
    yield from _own(run.row)
    for model in models_of(run):
        yield from _learnt(model)


def models_of(run: Run) -> list[Model]:
    """The models that a run stands on, by names in braces; models may name others."""
    found: list[Model] = []
    said = [spec for _, spec in _own(run.row)]
    while new := [each for each in run.table.model if each not in found and _named(each.name, said)]:
        found += new
        said += [spec for model in new for _, spec in _learnt(model)]
    return found


def vectors_of(run: Run) -> list[Vectors]:
    """The word vectors that a run stands on, by names in braces; ``{vectors}`` are the column's."""
    said = [spec for _, spec in specs_of(run)]
    own = run.column.vectors if _named("vectors", said) else ""
    return [each for each in run.table.vectors if each.name == own or _named(each.name, said)]


def _own(row: Row) -> Iterator[tuple[str, str]]:
    for kind in ("ranker", "reader", "qualifier", "doubt"):
        yield kind, getattr(row, kind)
    yield "reader", row.others
    yield from _learnt(row)


def _learnt(made: Row | Model) -> Iterator[tuple[str, str]]:
    for spec in (made.trainer, *(stage.trainer for stage in made.stage)):
        yield "trainer", spec


def _named(name: str, said: Sequence[str]) -> bool:
    return any(f"{{{name}}}" in spec for spec in said)
