"""`demur compare`: which of several reports differ, by paired tests over the pools that they share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.console import JsonFlag, emit, stdout

if TYPE_CHECKING:
    from demur.evaluation import Comparison


def compare(
    reports: Annotated[
        list[str], typer.Argument(metavar="A.json B.json …", help="Reports that demur evaluate -o wrote.")
    ],
    baseline: Annotated[
        str | None, typer.Option(help="The report that the others are compared with; the first, if not said.")
    ] = None,
    test: Annotated[
        str, typer.Option(help="permutation, wilcoxon or mcnemar; several with commas.")
    ] = "permutation",
    measures: Annotated[
        str | None, typer.Option("-m", "--measures", help="Only these of the reports' measures.")
    ] = None,
    common: Annotated[
        bool, typer.Option("--common", help="Compare the pools and measures that all reports have.")
    ] = False,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Of the bootstrap and the permutations.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Compare rankers pool by pool: differences, their intervals, and p adjusted for the whole table."""
    from demur.evaluation import Report
    from demur.evaluation import compare as compare_reports

    names = _names(reports)
    first = 0 if baseline is None else dict(zip(reports, names, strict=True)).get(baseline, baseline)
    found = compare_reports(
        {name: Report.read(path) for name, path in zip(names, reports, strict=True)},
        first,
        test.split(","),
        measures,
        common=common,
        confidence=confidence,
        seed=seed,
    )
    if json:
        emit(found.to_json())
    else:
        _show(found)


def _names(paths: list[str]) -> list[str]:
    """Short names for the reports: those of the files, or whole paths where two are the same."""
    from demur.errors import UsageError

    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise UsageError(f"{twice} is named twice; name each report once")
    names = [Path(path).name.removesuffix(".gz").removesuffix(".json") for path in paths]
    return names if len(set(names)) == len(names) else paths


def _show(comparison: Comparison) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("measure")
    table.add_column("system", overflow="fold")
    for column in ("mean", "difference"):
        table.add_column(column, justify="right")
    table.add_column(f"{100 * comparison.confidence:g}% interval")
    table.add_column("adjusted p", justify="right")
    last = ""
    for row in comparison.rows:
        if row.measure != last:
            table.add_row(row.measure, escape(comparison.baseline), f"{row.baseline:.4f}", "", "", "")
        last = row.measure
        interval = f"{row.low:+.4f} – {row.high:+.4f}"
        numbers = f"{row.mean:.4f}", f"{row.difference:+.4f}", interval, f"{row.adjusted:.4f}"
        table.add_row("", escape(row.system), *numbers)
    console = stdout()
    console.print(table)
    tests = ", ".join(dict.fromkeys(row.test for row in comparison.rows))
    pools = " to ".join(f"{n:,}" for n in sorted({row.pools for row in comparison.rows}))
    console.print(
        f"\n{tests} test over {pools} pools, against {comparison.baseline}; convention "
        f"{comparison.convention}; p adjusted by Holm for {len(comparison.rows)} comparisons",
        markup=False,
    )
