"""Whether gates without labels keep what they promise (`python -m tools.without_labels`).

Half of an FAQ's entries are removed, and their questions asked of the rest, as `demur calibrate
--without-labels` does. These entries then are all questions without an answer that there are, so the true
share that a threshold answers is known. From them entries are drawn 200 times, with replacement, and each
draw makes its gate. The same gates also meet what people asked about the removed entries in words of
their own, where labels say so.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from demur.asking.gates.withheld import HALF, chance_of, withheld
from demur.asking.library import Library
from demur.asking.meaning.ranker import by_meaning
from demur.data import pools
from demur.errors import NoThreshold
from demur.files import replacing
from demur.kb.passages import Passage
from demur.risk.unanswerable import choose
from demur.types import FloatArray
from tools.chance_data import AS_FAQ, beside, rows_of
from tools.written import WRITTEN_FAQS, written

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "results" / "asking" / "without_labels.json"
DRAWS = 200
RISKS = (0.1, 0.2, 0.3)
SURE = 0.95
ROWS = f"selqa/test{AS_FAQ}", f"semeval2016/test{AS_FAQ}"
COVID = "covidfaq/test"
Asked = tuple[str, frozenset[str]]
"""What somebody asked, and the questions of the rows that answer it."""


def faqs() -> Iterator[tuple[str, Library, list[Asked]]]:
    """FAQs, each with what was asked of it in other words."""
    for name in ROWS:
        rows = list(rows_of(name))
        asks = [(asked, frozenset({row.question})) for row, asked in rows if asked is not None]
        yield name, Library([row for row, _ in rows]), asks
    asks = []
    for pool, library in beside(pools(COVID), COVID):
        texts = {each.text.strip() for each in pool.candidates if each.label}
        right = [each.question for each in library.passages if texts & {each.searched, each.text.strip()}]
        asks.append((pool.question, frozenset(right)))
    yield COVID, library, asks
    joined = list(written(f"{WRITTEN_FAQS}test"))
    every: set[Passage] = {each for _, library in joined for each in library.passages}
    asks = []
    for pool, library in joined:
        texts = {each.text for each in pool.candidates if each.label}
        if right := [each.question for each in library.passages if each.searched in texts]:
            asks.append((pool.question, frozenset(right)))
    whole = sorted(every, key=lambda each: (each.source, each.line or 0))
    yield f"{WRITTEN_FAQS}test, as one", Library(list[str | Path | Passage](whole)), asks


def measured(library: Library, asks: Sequence[Asked]) -> dict[str, Any]:
    """What became of the promise, risk by risk."""
    found = withheld(library, share=HALF)
    gone = {question for entry in found.taken for question in entry.questions}
    there = by_meaning(
        Library([each for each in library.passages if each.question not in gone], library.stem)
    )
    real = np.array([chance_of(there.find(asked)) for asked, rows in asks if rows and rows <= gone])
    row: dict[str, Any] = {"entries": found.entries, "removed": found.removed, "asked by people": len(real)}
    return row | {f"{risk:g}": _drawn(found.confidence, real, risk) for risk in RISKS}


def _drawn(confidence: FloatArray, real: FloatArray, risk: float) -> dict[str, Any]:
    draw = np.random.default_rng(0)
    shares: list[tuple[float, float]] = []
    for _ in range(DRAWS):
        try:
            threshold = choose(draw.choice(confidence, len(confidence)), risk, SURE).threshold
        except NoThreshold:
            continue
        shares.append((float((confidence >= threshold).mean()), float((real >= threshold).mean())))
    broken, answered = np.array(shares) > risk, np.array(shares)
    return {
        "gates": len(shares),
        "broken": int(broken[:, 0].sum()) if shares else 0,
        "answered": round(float(answered[:, 0].mean()), 4) if shares else None,
        "broken for people": int(broken[:, 1].sum()) if shares else 0,
        "answered to people": round(float(answered[:, 1].mean()), 4) if shares else None,
    }


def main() -> None:
    """Measure, and keep it."""
    rows = {}
    for name, library, asks in faqs():
        rows[name] = measured(library, asks)
        print(name, json.dumps(rows[name]), file=sys.stderr, flush=True)
    facts = {"command": "python -m tools.without_labels", "draws": DRAWS, "confidence": SURE, "sets": rows}
    with replacing(PLACE) as out:
        out.write(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
