"""`docs/speed.md`: the benchmarks as they were last kept under results/speed; nothing is run."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.__main__ import ALONE, PARTS

from demur.processor import Processor

KEPT = Path(__file__).resolve().parents[1] / "results" / "speed"
INTRODUCTION = """# Speed

Each line is a goal that was set beforehand, and what was measured. Ratios are of turns taken side by side
in one run, and medians of several: they carry over to other machines better than times do. A line whose goal
was missed says so.

`make bench` measures all of this anew; `.venv/bin/python -m bench PART -o results/speed` keeps a part for
this page, beside what was kept on other kinds of processor. What is compared with libraries that demur does
not need (`pip install fastembed FlashRank`) leaves out those that are not installed."""
BY_KIND = """## By kind of processor

What the instructions that a processor has are worth. A kind that names `ATEN_CPU_CAPABILITY` or
`ONEDNN_MAX_CPU_ISA` was measured with these in the environment: they keep torch from instructions, and leave
ONNX Runtime, which is what ours runs on, as it is."""
UNRECORDED = "not recorded"
COLUMNS = (  # the part, how its row begins, and what the column is called
    ("rank", "ours int8:", "ranking, int8"),
    ("rank", "ours fp32:", "ranking, fp32"),
    ("rank", "sentence-transformers predict:", "ranking, torch"),
    ("ask", "demur ask with mini", "asking, to the first answer"),
    ("ask", "each question after, ", "asking, each one after"),
)
KINDS = (  # which one would like to have
    ("SSE4.2",),
    ("AVX2",),
    ("AVX2", "VNNI"),
    ("AVX-512",),
    ("AVX-512", "VNNI"),
    ("AVX-512", "VNNI", "bf16"),
    ("AVX-512", "VNNI", "bf16", "AMX"),
    ("NEON",),
)
Report = dict[str, Any]


def page(folder: Path = KEPT) -> str:
    """All parts that were kept, in the order in which they are run; first some of them by processor."""
    reports = {part: found for part in (*PARTS, *ALONE) if (found := kept(folder, part))}
    sections = [_part(part, found) for part, found in reports.items()]
    return "\n\n".join([INTRODUCTION, *_by_kind(reports), *sections]) + "\n"


def kept(folder: Path, part: str) -> list[Report]:
    """What was kept of a part, one report for each kind of processor; last the one that names no kind."""
    found = [json.loads(path.read_text("utf-8")) for path in folder.glob(f"{part}.*json")]
    return sorted(found, key=lambda report: (_kind(report) == UNRECORDED, _kind(report)))


def _processor(report: Report) -> Processor | None:
    said = report.get("processor")
    return said and Processor(said["name"], tuple(said["features"]), said["restricted"])


def _kind(report: Report) -> str:
    found = _processor(report)
    return found.label if found else UNRECORDED


def _by_kind(reports: dict[str, list[Report]]) -> list[str]:
    parts = dict.fromkeys(part for part, _, _ in COLUMNS)
    found = {part: {_kind(report): report for report in reports.get(part, [])} for part in parts}
    kinds = dict.fromkeys(kind for part in parts for kind in found[part])
    if not kinds:
        return []
    titles = ["kind of processor", *(title for _, _, title in COLUMNS)]
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for kind in sorted(kinds, key=lambda kind: (kind == UNRECORDED, kind)):
        cells = [_figure(found[part].get(kind), start) for part, start, _ in COLUMNS]
        lines.append(f"| {' | '.join([kind, *cells])} |")
    here = [told for part in parts for each in found[part].values() if (told := _processor(each))]
    missing = [kind for kind in KINDS if not any(_is(told.features, kind) for told in here)]
    names = "; ".join(" ".join(kind) for kind in missing)
    said = ["", f"Not measured, as no such processor was available: {names}."] if here and missing else []
    return ["\n".join([BY_KIND, "", *lines, *said])]


def _is(features: Sequence[str], kind: Sequence[str]) -> bool:
    return tuple(features) == tuple(kind) or features[:1] == ("NEON",) == kind


def _figure(report: Report | None, start: str) -> str:
    """What a row of a report says: pairs a second, where it counts them, or else what was found."""
    for row in report["rows"] if report else []:
        if row["what"].startswith(start):
            rate = re.search(r"\d+ pairs a second", row["what"])
            return rate[0].replace(" a second", "/s") if rate else row["found"]
    return "–"


def _part(part: str, reports: Sequence[Report]) -> str:
    lines = [f"## {part.capitalize()}", "", reports[0]["about"]]
    for report in reports:
        lines += ["", "| what | measured | goal |", "|---|---|---|"]
        for row in report["rows"]:
            missed = "" if row["met"] else ", **missed**"
            lines.append(f"| {row['what']} | {row['found']} | {row['goal']}{missed} |")
        packages = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
        kind = f"{_kind(report)}; " if report.get("processor") else ""
        lines += ["", f"<sub>{kind}{report['machine']}; {packages}</sub>"]
    return "\n".join(lines)
