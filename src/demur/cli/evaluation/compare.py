"""`demur compare`: which of several reports differ, by paired tests over the pools that they share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.console import JsonFlag, emit, meter, stdout, tracked
from demur.errors import count_of

if TYPE_CHECKING:
    from demur.evaluation import Comparison


LEAST = 0.0001  # what four digits of a p can show


def compare(
    reports: Annotated[
        list[str], typer.Argument(metavar="A.json B.json …", help="Reports that demur evaluate -o wrote.")
    ],
    baseline: Annotated[
        str | None, typer.Option(help="The report to compare the others with. Default: the first.")
    ] = None,
    test: Annotated[
        str, typer.Option(help="permutation, wilcoxon or mcnemar; or several, separated by commas.")
    ] = "permutation",
    measures: Annotated[
        str | None, typer.Option("-m", "--measures", help="Compare only these measures.")
    ] = None,
    common: Annotated[
        bool, typer.Option("--common", help="Compare only the pools and measures that all reports have.")
    ] = False,
    confidence: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the tests.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Compare reports by paired tests: differences with intervals, and p-values with Holm's correction."""
    from demur.evaluation import Report
    from demur.evaluation import compare as compare_reports

    names = _names(reports)
    first = 0 if baseline is None else dict(zip(reports, names, strict=True)).get(baseline, baseline)
    read = [Report.read(path) for path in tracked(reports, "reading", "reports", len(reports))]
    with meter("comparing", "differences") as advance:
        found = compare_reports(
            *(dict(zip(names, read, strict=True)), first, test.split(","), measures),
            common=common,
            confidence=confidence,
            seed=seed,
            on_row=advance,
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

    tests = list(dict.fromkeys(row.test for row in comparison.rows))
    several = len(tests) > 1
    table = Table(box=None, pad_edge=False)
    table.add_column("measure")
    table.add_column("system", overflow="fold")
    if several:
        table.add_column("test")
    for column in ("mean", "difference"):
        table.add_column(column, justify="right")
    table.add_column(f"{100 * comparison.confidence:g}% interval")
    table.add_column("adjusted p", justify="right")
    last = ""
    for row in comparison.rows:
        if row.measure != last:
            blank = [""] * several
            table.add_row(row.measure, escape(comparison.baseline), *blank, f"{row.baseline:.4f}", "", "", "")
        last = row.measure
        interval = f"{row.low:+.4f} – {row.high:+.4f}"
        p = f"{row.adjusted:.4f}" if row.adjusted >= LEAST else f"< {LEAST:.4f}"
        numbers = f"{row.mean:.4f}", f"{row.difference:+.4f}", interval, p
        table.add_row("", escape(row.system), *[row.test] * several, *numbers)
    console = stdout()
    console.print(table)
    each = ", each test by itself" if several else ""
    pools = sorted({row.pools for row in comparison.rows})
    over = " to ".join([*(f"{n:,}" for n in pools[:-1]), count_of(pools[-1], "pool")])
    held = f"{', '.join(tests)} test{'s' * several} over {over}, against {comparison.baseline}"
    corrected = f"p adjusted by Holm for {count_of(comparison.family, 'comparison')}{each}"
    console.print(
        f"\n{held}; convention {comparison.convention}; {corrected}",
        markup=False,
    )
