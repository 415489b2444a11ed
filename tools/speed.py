"""`docs/speed.md`: the benchmarks as they were last kept under results/speed; nothing is run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.__main__ import ALONE, PARTS

KEPT = Path(__file__).resolve().parents[1] / "results" / "speed"
INTRODUCTION = """# Speed

Each line is a goal that was set beforehand, and what was measured. Ratios are of turns taken side by side
in one run, and medians of several: they carry over to other machines better than times do. A line whose goal
was missed says so.

`make bench` measures all of this anew; `.venv/bin/python -m bench PART -o results/speed` keeps a part for
this page. What is compared with libraries that demur does not need (`pip install fastembed FlashRank`)
leaves out those that are not installed."""


def page(folder: Path = KEPT) -> str:
    """All parts that were kept, in the order in which they are run."""
    found = [(part, folder / f"{part}.json") for part in (*PARTS, *ALONE)]
    reports = [(part, json.loads(path.read_text("utf-8"))) for part, path in found if path.is_file()]
    return "\n\n".join([INTRODUCTION, *(_part(part, report) for part, report in reports)]) + "\n"


def _part(part: str, report: dict[str, Any]) -> str:
    head = ["| what | measured | goal |", "|---|---|---|"]
    lines = [f"## {part.capitalize()}", "", report["about"], "", *head]
    for row in report["rows"]:
        missed = "" if row["met"] else ", **missed**"
        lines.append(f"| {row['what']} | {row['found']} | {row['goal']}{missed} |")
    packages = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    return "\n".join([*lines, "", f"<sub>{report['machine']}; {packages}</sub>"])
