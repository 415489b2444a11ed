"""How reports are written and shown, whatever was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from demur.cli.console import emit, note, stdout
from demur.errors import count_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from demur.evaluation import Report
    from demur.evaluation.readers import Quoted


AnyReport = TypeVar("AnyReport", "Report", "Quoted")


def deliver(
    found: AnyReport, report: Report, output: str | None, json: bool, show: Callable[[AnyReport], None]
) -> None:
    """Write the report, if an output is named, and print what was found as JSON or for people."""
    if output is not None:
        report.write(output)
    if output == "-":
        return  # that is the same JSON
    if output is not None:
        note(f"report written to {output}")
    if json:
        emit(found.to_json())
    else:
        show(found)


def skips_absent(name: str) -> bool:
    """Whether questions that a run lacks are left out by a convention; by those of readers none are."""
    from demur.errors import UnknownName
    from demur.evaluation import convention

    try:
        return convention(name).rules.absent == "skip"
    except UnknownName:
        return False


def show(report: Report, answers: str = "top candidates") -> None:
    """Print a report's measures, what they are of, and their convention; `answers` are what was judged."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("measure")
    table.add_column("mean", justify="right")
    table.add_column(f"{100 * report.confidence:g}% interval")
    table.add_column("pools", justify="right")
    for name, estimate in report.measures.items():
        interval = f"{estimate.low:.4f} – {estimate.high:.4f}"
        table.add_row(name, f"{estimate.mean:.4f}", interval, f"{report.counted[name]:,}")
    console = stdout()
    console.print(table)
    console.print(f"\n{report.ranker or 'scores'} on {report.data}", markup=False)
    absent = ", or not in the run" if skips_absent(report.convention) else ""
    why = f" (no positive, or not judged{absent})" if report.skipped else ""
    skipped = f"{report.skipped:,} skipped{why}"
    fewer = {name: report.pools - report.counted[name] for name in report.values}
    skipped += "".join(f", {count:,} more by {name}" for name, count in fewer.items() if count)
    pools = count_of(report.pools, "pool")
    console.print(f"convention {report.convention}: {pools}, {skipped}", markup=False)
    if report.answered is not None:
        outcomes = report.answered.outcomes
        right, wrong, none = (f"{outcomes[name]:,.1f}".removesuffix(".0") for name in ("AD+", "AD-", "UD"))
        console.print(
            f"confidence by {report.answered.qualifier}: {right} {answers} right, {wrong} wrong, "
            f"{none} wrong where none is right",
            markup=False,
        )
