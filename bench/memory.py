"""What memory `demur score` takes of a file with 1,000,000 pairs, by a cross-encoder in bytes.

Run alone, as `make bench-memory`, and for a while. The pairs are short, so that it ends, and none stands
there twice. A tenth of them is scored first, to show that memory does not grow with the file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.common import Row, sentences
from bench.rank import model
from demur.export.export import export
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder

PAIRS, IN_POOL, WORDS = 1_000_000, 10, 8
MOST = 1000.0  # megabytes

_MEASURED = """
import pathlib, re, resource, runpy, sys
sys.argv = ["demur", *sys.argv[1:]]
try:
    runpy.run_module("demur", run_name="__main__")
finally:  # Linux counts what the parent had into ru_maxrss, but not into VmHWM
    status = pathlib.Path("/proc/self/status")
    if status.is_file():
        print(int(re.search(r"VmHWM:\\s*(\\d+)", status.read_text())[1]) / 2**10, file=sys.stderr)
    else:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, file=sys.stderr)
"""


def write(path: Path, pairs: int) -> None:
    """A file of pools; each pair is another one, by its number."""
    texts = sentences(1000, WORDS)
    with path.open("w", encoding="utf-8") as file:
        for pool in range(pairs // IN_POOL):
            answers = [f"{texts[(pool + 7 * n) % len(texts)]} {pool}" for n in range(IN_POOL)]
            question = f"{texts[pool % len(texts)]} {pool}?"
            one = {
                "id": str(pool),
                "question": question,
                "candidates": [{"id": str(n), "text": text} for n, text in enumerate(answers)],
            }
            file.write(json.dumps(one) + "\n")


def peak(data: Path, folder: Path) -> float:
    """Megabytes that the whole command took at its highest."""
    words = ["score", str(data), "--ranker", str(folder), "-o", str(data.with_suffix(".scored.jsonl"))]
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, *words],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ},
    )
    return float(done.stderr.strip().splitlines()[-1])


def run(pairs: int = PAIRS) -> list[Row]:
    """Rows for a tenth of the pairs and for all."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        network = CrossEncoder(model=model(folder))
        export(network, folder / "int8", "int8")
        for count in (pairs // 10, pairs):
            data = folder / f"{count}.jsonl"
            write(data, count)
            found = peak(data, folder / "int8")
            what = f"demur score, {count:,} pairs in int8, memory at most"
            rows.append(Row(what=what, found=f"{found:.0f} MB", goal=f"< {MOST:.0f} MB", met=found < MOST))
    return rows


if __name__ == "__main__":
    for row in run(int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS):
        print(row["what"], row["found"], row["goal"], "" if row["met"] else "MISSED", flush=True)
