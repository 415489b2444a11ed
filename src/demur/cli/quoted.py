"""What `demur evaluate` does for readers, and for answers in a file: EM and F1 as SQuAD has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demur.cli.console import emit, meter, note, stdout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.evaluation.quoted import Quoted
    from demur.types import Pool


def measure(
    pools: Sequence[Pool],
    data: str,
    reader: str | None,
    answers: str | None,
    confidence: float,
    seed: int,
    output: str | None,
    json: bool,
) -> None:
    """Measure a reader, or the answers in a file, and show or write what was found."""
    from demur.errors import UsageError
    from demur.evaluation.quoted import Quoted, evaluate_answers, evaluate_reader
    from demur.reading import published
    from demur.reading import reader as named

    if (reader is None) == (answers is None):
        raise UsageError("name a --reader, or --answers FILE; one of the two")
    if reader is not None:
        with meter("reading", "questions") as advance:
            found = evaluate_reader(
                named(reader), pools, data=data, confidence=confidence, seed=seed, on_batch=advance
            )
    else:
        given = published.answers(answers or "", pools)
        found = Quoted(
            evaluate_answers(given, pools, name=answers or "", data=data, confidence=confidence, seed=seed)
        )
    if output is not None:
        found.report.write(output)
    if output == "-":
        return  # that is the same JSON
    if output is not None:
        note(f"report written to {output}")
    if json:
        emit(found.to_json())
    else:
        _show(found)


def _show(found: Quoted) -> None:
    from demur.cli.evaluate import show

    show(found.report)
    for name, best in found.best.items():
        where = (
            "giving no answer at all"
            if best.threshold == float("-inf")
            else f"threshold={best.threshold:.4g}"
        )
        stdout().print(f"in hindsight, {name} is {best.mean:.4f} with {where}", markup=False)
