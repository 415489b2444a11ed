"""Holds the packaged encoder against the network it was made of (`python -m tools.compare_encoder`).

Writes `results/encoder/bytes.json`: per dataset the MAP of both, what the bytes lose, with a 95 % interval
over questions, and the MAP of the network that nobody here taught. Of a large set, so many questions are
drawn.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import demur
from demur.data import pools
from demur.data.subsets import sample
from demur.embedders.encoders.packaged import FOLDER
from demur.store import open_folder
from demur.types import Pool
from tools.make_encoder import NETWORKS
from tools.written import WRITTEN_BOOKS, WRITTEN_FAQS, is_written, written

PLACE = Path(__file__).resolve().parents[1] / "results" / "encoder" / "bytes.json"
SETS = {"wikiqa/test": 0, "trecqa/test": 0, "semeval2016/test": 0, "covidfaq/test": 0}
SETS |= {"antique/dev": 0, "selqa/test": 300}
SETS |= {f"{WRITTEN_BOOKS}test": 0, f"{WRITTEN_FAQS}test": 0}
"""Datasets, and how many questions are drawn of each; 0 is all."""
BYTES, FLOATS, BEFORE = "encoder", str(NETWORKS[-1]), "encoder(model=minilm)"


def compared(some: Sequence[Pool]) -> dict[str, Any]:
    """The MAP of both on some pools, and what is lost."""
    reports = {
        name: demur.evaluate(demur.ranker(spec), some, ["MAP"])
        for name, spec in (("bytes", BYTES), ("floats", FLOATS))
    }
    (row,) = demur.compare(reports).rows  # floats less bytes
    found = {"bytes": row.baseline, "floats": row.mean, "lost": row.difference}
    rounded: dict[str, Any] = {name: round(value, 5) for name, value in found.items()}
    before = demur.evaluate(demur.ranker(BEFORE), some, ["MAP"]).measures["MAP"].mean
    return rounded | {"interval": [round(row.low, 5), round(row.high, 5)], "untaught": round(before, 5)}


def _of(name: str) -> Iterable[Pool]:
    """The pools of a set; of one that was written for this, all paragraphs, or the questions of all rows."""
    if not is_written(name):
        yield from pools(name)
        return
    for pool, library in written(name):
        if pool.positives:
            right = {each.text for each in pool.candidates}
            passages = [library.passage(place) for place in range(len(library))]
            texts = [each.question or each.searched for each in passages]
            labels = [int(each.searched in right) for each in passages]
            yield Pool.of(pool.question, texts, labels, id=pool.id)


def main() -> None:
    """Compare on each set, and write after each."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("-o", "--output", type=Path, default=PLACE)
    place = asked.parse_args().output
    rows: dict[str, dict[str, Any]] = {}
    for name, count in SETS.items():
        some = list(_of(name))
        some = list(sample(some, count)) if count else some
        rows[name] = {"questions": len(some), **compared(some)}
        print(name, rows[name], file=sys.stderr, flush=True)
        facts = {"command": "python -m tools.compare_encoder", "model": open_folder(FOLDER).fingerprint}
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps({**facts, "MAP": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
