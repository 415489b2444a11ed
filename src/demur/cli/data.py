"""`demur data`: what is here, what it looks like, and whether it is what was published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from demur.cli.console import JsonFlag, emit, note, say, stdout, tracked
from demur.errors import count_of

if TYPE_CHECKING:
    from rich.table import Table

    from demur.data import Dataset, Summary
    from demur.types import Pool

SHOWN = 4  # candidates of a sample pool
WIDEST = 100_000  # characters of a line that no terminal wraps
COUNTED = ("pools", "pairs", "positives")
RIGHT = {*COUNTED, "min", "25%", "50%", "75%", "95%", "max"}  # columns of numbers
COLOURS = {"ok": "green", "here": "green", "changed": "red", "wrong": "red"}

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Show which datasets are here, and check them."
)


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """List the datasets, their splits, and whether their files are here."""
    from demur import registry
    from demur.data import dataset, sources

    rows = [_listed(dataset(name)) for name in registry.names("dataset")]
    if json:
        emit(rows)
        return
    table = _table("", "", "splits (in brackets: files are missing), licence")
    for row in rows:
        splits = " ".join(split if here else f"({split})" for split, here in row["splits"].items())
        about = (f"[dim]{_plain(row[key])}[/dim]" for key in ("description", "licence"))
        table.add_row(row["name"], _coloured(row["state"]), _stacked(splits, *about))
    _print(table)
    if sources.root() is None:
        note("DEMUR_DATA is not set; set it to the folder with the datasets' folders")


@app.command()
def show(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="A dataset, a split such as wikiqa/test, or a file.")
    ],
    json: JsonFlag = False,
) -> None:
    """Show a dataset's splits, files and source; or statistics and three pools of a split or file."""
    from dataclasses import asdict

    from demur.data import Pools, load, summarise

    found = load(id)
    if isinstance(found, Pools):
        summary = summarise(tracked(found.stream(), found.id, "pools"), relevant=found.relevant)
        emit({"id": found.id, **asdict(summary)}) if json else _show_pools(found.id, summary)
    else:
        emit(_listed(found)) if json else _show_dataset(_listed(found))


@app.command()
def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Datasets. Default: all.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Check files by checksum and splits by published counts; exit with 1 if one is missing or differs."""
    from dataclasses import asdict

    from demur.data.checking import BAD, findings

    found = list(tracked(findings(names or ()), "checking", "files and splits"))
    if json:
        emit([asdict(finding) for finding in found])
    else:
        table = _table("", "file or split", "")
        for finding in found:
            table.add_row(_coloured(finding.state), _plain(finding.what), _plain(finding.note))
        _print(table)
        states = [finding.state for finding in found]
        _print(", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states)))
    if any(finding.state in BAD for finding in found):
        raise typer.Exit(1)


def _listed(dataset: Dataset) -> dict[str, Any]:
    from dataclasses import asdict

    from demur.data import sources

    splits = {split: all(map(sources.find_file, pools.files)) for split, pools in dataset.pools.items()}
    state = "here" if all(splits.values()) else "partly" if any(splits.values()) else "missing"
    facts = sources.facts(dataset.name.partition("/")[0])
    needs = {split: list(pools.files) for split, pools in dataset.pools.items()}
    return {"state": state, "splits": splits, "needs": needs, **asdict(facts), "name": dataset.name}


def _show_dataset(row: dict[str, Any]) -> None:
    _print(f"[bold]{row['name']}[/bold]: {_plain(row['description'])}\n")
    table = _table("split", "", *COUNTED)
    counts = row["counts"]
    for split, here in row["splits"].items():
        below = [rest for rest in counts if rest.startswith(f"{split}/") and rest not in row["splits"]]
        for rest in (split, *below):
            numbers = [counts.get(rest, {}).get(key) for key in COUNTED]
            cells = ["" if number is None else f"{number:,}" for number in numbers]
            table.add_row(rest, _coloured("here" if here else "missing"), *cells)
    _print(table)
    for key in ("licence", "citation", "obtain"):
        _print(f"\n[bold]{key}[/bold]  {_plain(row[key])}")
    _show_files(row["needs"])
    for key in ("pitfalls", "holes"):
        if row[key]:
            _print(f"\n[bold]{key}[/bold]")
        for line in row[key].items() if key == "holes" else row[key]:
            _print(f"- {_plain(line if key == 'pitfalls' else ': '.join(line))}")


def _show_files(needs: dict[str, list[str]]) -> None:
    """Show where each file belongs, below the folder that DEMUR_DATA names, and which splits need it."""
    from demur.data import sources

    users: dict[str, list[str]] = {}
    for split, files in needs.items():
        for file in files:
            users.setdefault(file, []).append(split)
    if not users:
        return
    root = sources.root()
    where = "not set yet" if root is None else _plain(str(root))
    _print(f"\n[bold]files[/bold]  below the folder that DEMUR_DATA names ({where}), with or without .gz")
    table = _table("", "", "")
    for file, splits in users.items():
        state = "here" if sources.find_file(file) else "missing"
        table.add_row(_plain(file), _coloured(state), f"for {', '.join(splits)}")
    _print(table)


def _show_pools(id: str, summary: Summary) -> None:
    _print(f"[bold]{_plain(id)}[/bold]\n")
    shares = (
        f"{n:,} {'' if label == 'unjudged' else 'labelled '}{label} ({n / summary.pairs:.1%})"
        for label, n in summary.labels.items()
    )
    table = _table("", "")
    table.add_row("pools", f"{summary.pools:,}")
    lowest = f", from label {summary.relevant} on" * (summary.relevant > 1)
    table.add_row(f"with a positive{lowest}", f"{summary.answerable:,}")
    table.add_row("with a positive and another", f"{summary.clean:,}")
    table.add_row("without candidates", f"{summary.without_candidates:,}")
    table.add_row("pairs", _stacked(f"{summary.pairs:,}", *shares))
    table.add_row("empty answers", f"{summary.empty_answers:,}")
    table.add_row(
        "repeated ids",
        f"{count_of(summary.repeated_pool_ids, 'pool')}, "
        f"{count_of(summary.repeated_candidate_ids, 'candidate')}",
    )
    _print(table)
    table = _table("", *summary.pool_sizes)
    for name in ("pool_sizes", "question_words", "answer_words"):
        table.add_row(name.replace("_", " "), *(f"{value:,}" for value in getattr(summary, name).values()))
    _print(table)
    for pool in summary.samples:
        _show_pool(pool)


def _show_pool(pool: Pool) -> None:
    _print(f"\n[bold]{_line(pool.question)}[/bold]  [dim]{_plain(pool.id)}[/dim]")
    positive = [candidate for candidate in pool.candidates if (candidate.label or 0) > 0]
    others = [candidate for candidate in pool.candidates if (candidate.label or 0) <= 0]
    shown = [*positive[: max(2, SHOWN - len(others))], *others][:SHOWN]
    for candidate in shown:
        _print(f"  {'–' if candidate.label is None else candidate.label}  {_line(candidate.text)}")
    if len(pool) > SHOWN:
        _print(f"  [dim]and {len(pool) - SHOWN:,} more[/dim]")


def _line(text: str, width: int = 70) -> str:
    """A text on one line, cut to fit."""
    line = " ".join(text[: 4 * width].split())
    return _plain(line if len(line) <= width else line[: width - 1] + "…")


def _plain(text: str) -> str:
    """A text in which rich sees no markup."""
    from rich.markup import escape

    return escape(text)


def _coloured(state: str) -> str:
    colour = COLOURS.get(state, "yellow")
    return f"[{colour}]{state}[/{colour}]"


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), show_header=any(columns), header_style="bold")
    for name in columns:
        table.add_column(name, justify="right" if name in RIGHT else "left")
    return table


def _print(thing: Table | str) -> None:
    """Print within the width of a terminal; elsewhere a row takes one line, however long."""
    console = stdout()
    if console.is_terminal:
        console.print(thing, soft_wrap=False)
        return
    console.width = WIDEST
    with console.capture() as captured:
        console.print(thing, soft_wrap=False)
    say("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _stacked(*texts: str) -> str:
    """Texts for one cell: one below the other on a terminal, beside each other elsewhere."""
    return ("\n" if stdout().is_terminal else " · ").join(texts)
