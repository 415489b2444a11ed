"""What was measured of Ray and of the places that a base can be in, for `docs/scale.md`; nothing is run."""

from __future__ import annotations

from pathlib import Path

from tools.speed import KEPT, Report, kept

NOTHING = "Not measured yet: `make bench-scale`."


def places(folder: Path = KEPT) -> str:
    """A table for each number of passages and kind of processor: what is measured, by place."""
    return _tables([report for part in ("bases", "millions") for report in kept(folder, part)])


def engine(folder: Path = KEPT) -> str:
    """What one process and the workers of Ray take, for each kind of processor."""
    found = []
    for report in kept(folder, "scale"):
        lines = ["| what | measured |", "|---|---|"]
        lines += [f"| {row['what']} | {row['found']} |" for row in report["rows"]]
        found.append("\n".join([*lines, "", _source(report)]))
    return "\n\n".join(found) or NOTHING


def _tables(reports: list[Report]) -> str:
    found = []
    for report in reports:
        cells: dict[str, dict[str, str]] = {}
        for row in report["rows"]:
            where, what = row["what"].split(": ", 1)
            place, about = where.split(", ", 1)
            cells.setdefault(what, {})[place] = row["found"]
        titles = list(dict.fromkeys(place for each in cells.values() for place in each))
        lines = [f"| {' | '.join([about, *titles])} |", "|---" * (len(titles) + 1) + "|"]
        lines += [
            f"| {' | '.join([what, *(each.get(place, '–') for place in titles)])} |"
            for what, each in cells.items()
        ]
        found.append("\n".join([*lines, "", _source(report)]))
    return "\n\n".join(found) or NOTHING


def _source(report: Report) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in report["versions"].items() if name in SHOWN)
    return f"<sub>{report['machine']}; {packages}; commit {report['commit']}</sub>"


SHOWN = ("demur", "ray", "psycopg", "lancedb", "tantivy")
