"""What golden runs come to, beside what is kept of them: `python -m golden.comparing` writes it anew."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from demur import precision, registry
from demur.editions import NETS, OBJECTIVES, TABLES, VECTORS, editions
from demur.evaluation.conventions import CONVENTIONS
from golden import datasets, judged, rankers, trained

FILE = Path(__file__).with_name("golden.json")
DIGITS = 4
EXACT, LEARNT = 1e-4, 2e-3
"""By how much a number may differ, for each unit of its size: processors add up in other orders."""
_LEARNING = ("doubt", "net probe", "net quick", "table curves", "table reading", "trainer", "vectors")

RUNS: dict[str, Callable[[], list[float]]] = {**rankers.RUNS, **trained.RUNS, **datasets.RUNS, **judged.RUNS}


def known() -> list[str]:
    """Every part there is."""
    every: dict[str, Iterable[str]] = {**registry.OURS, "convention": CONVENTIONS}
    every |= {"net": NETS, "objective": OBJECTIVES, "table": TABLES, "vectors": VECTORS}
    return sorted(f"{kind} {name}" for kind, names in every.items() for name in names)


@cache
def kept() -> dict[str, Any]:
    """By part, its editions and its numbers when they were last written."""
    found: dict[str, Any] = json.loads(FILE.read_text("utf-8")) if FILE.is_file() else {}
    return found


def told(part: str, now: list[float]) -> str:
    """What is wrong with the golden run of a part; nothing, if all is well."""
    before = kept().get(part)
    if before is None:
        return f"{part} is new: write its golden run down with `make golden`"
    same, raised = alike(part, before["numbers"], now), before["editions"] != editions([part])
    if same and not raised:
        return ""
    if raised:
        return f"an edition of {part} was raised: write its golden run anew with `make golden`"
    if has_new_split(part, now):
        return f"{part} has a new split: write its golden run anew with `make golden`"
    others = [other for other in editions([part]) if other != part]
    on = f", or that of what it stands on ({', '.join(others)})" if others else ""
    return (
        f"{part} comes to other numbers than before, and its edition is the same. If that is meant, raise "
        f"its edition{on} (the class attribute `edition`, or src/demur/editions.py), and run `make golden`; "
        "results of the edition before become stale by that. If it is not meant, the change is wrong."
    )


def has_new_split(part: str, now: list[float]) -> bool:
    """Whether a dataset has another split, after those of before, which are as they were."""
    before = kept()[part]["numbers"]
    return part.startswith("dataset ") and len(now) > len(before) and alike(part, before, now[: len(before)])


def alike(part: str, before: list[float], now: list[float]) -> bool:
    """Whether numbers are the same but for rounding.

    What learns from lists alone has no say in the level of its scores: Adam turns the rounding of a gradient
    that is zero into whole steps. So these may all move by the same small number.
    """
    learns = part.startswith(_LEARNING)
    much = LEARNT if learns else EXACT
    if len(before) != len(now):
        return False
    gaps = [b - a for a, b in zip(before, now, strict=True)]
    level = sorted(gaps)[len(gaps) // 2] if learns and len(gaps) > 2 else 0.0
    near = all(abs(gap - level) <= much * (1 + abs(a)) for a, gap in zip(before, gaps, strict=True))
    return near and abs(level) <= 5 * much


def main() -> int:
    """Write what is new, or of a raised edition; 1 if figures changed under an edition that did not."""
    setattr(precision, "ratio", lambda: 1.0)  # noqa: B010  # numbers are those of fp32, as in the suite
    wrong, written = [], {}
    for part in known():
        now = RUNS[part]()
        complaint = told(part, now)
        same = part in kept() and kept()[part]["editions"] == editions([part])
        if complaint and same and not has_new_split(part, now):
            wrong.append(complaint)
        if complaint and complaint not in wrong:
            written[part] = {"editions": editions([part]), "numbers": [round(x, DIGITS) for x in now]}
    found = {part: written.get(part) or kept()[part] for part in known() if part in written or part in kept()}
    rows = ",\n".join(f"{json.dumps(part)}: {json.dumps(each)}" for part, each in found.items())
    FILE.write_text(f"{{\n{rows}\n}}\n", "utf-8")
    sys.stdout.write("".join(f"{line}\n" for line in [*wrong, f"{len(written)} golden runs written"]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
