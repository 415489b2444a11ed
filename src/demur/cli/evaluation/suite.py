"""`demur evaluate --suite robust`: how far rankers fall when the texts are changed."""

from __future__ import annotations

from demur.cli.console import emit, meter, note, stdout
from demur.cli.evaluation.pools import read_pools, tell_doubts
from demur.errors import count_of


def measure_suite(
    suite: str,
    data: str | None,
    read_as: str | None,
    ranker: str | None,
    seeds: int,
    output: str | None,
    json: bool,
) -> None:
    """Run a suite over rankers and show what it found."""
    from itertools import groupby
    from pathlib import Path

    from rich.table import Table

    from demur.errors import UnknownName, UsageError, require
    from demur.evaluation.robust import robustness, write_page
    from demur.evaluation.robust.page import HEADS, TITLES, cells, families
    from demur.experiments.results import provenance
    from demur.files import written
    from demur.rankers import ranker as resolve_ranker
    from demur.specs import members_of

    if suite != "robust":
        raise UnknownName("suite", suite, ["robust"])
    if data is None or ranker is None:
        raise UsageError("a suite needs DATA with labels, and --ranker R")
    rankers = {spec: resolve_ranker(spec) for spec in members_of(ranker)}
    if output is not None:  # before the work
        require("matplotlib", extra="report")
        if Path(output).is_file():
            raise UsageError(f"{output} is a file; name a folder for the suite's page and picture")
        with written(output):
            Path(output).mkdir(parents=True, exist_ok=True)
    pools = read_pools(data, read_as)
    with meter("changing texts", "conditions") as advance:
        found = robustness(rankers, pools, seeds=seeds, data=data, on_condition=advance)
    tell_doubts(pools, data)
    if output is not None:
        known = {spec: each.fingerprint for spec, each in rankers.items()}
        made = {**provenance.environment(), "fingerprints": known}
        note(f"page written to {write_page(found, output, made)}")
    if json:
        emit(found.to_json())
        return
    console = stdout()
    for family, rows in families(found.findings):
        for name, of_one in groupby(rows, key=lambda one: one.ranker):
            title = TITLES[family] + (f": {name}" if len(rankers) > 1 else "")
            table = Table(title=title, title_justify="left", box=None, pad_edge=False)
            for place, head in enumerate(HEADS):
                table.add_column(head, justify="right" if place > 1 else "left", no_wrap=place > 0)
            for one in of_one:
                table.add_row(*cells(one))
            console.print(table)
            console.print()
    over = f"{count_of(found.pools, 'pool')} of {data}, {count_of(seeds, 'seed')}"
    said = f"{over}; 95 % intervals, p corrected by Holm"
    console.print(said, markup=False)
