"""Runs benchmarks and prints what was measured, with the machine and the versions; `-o` keeps it, too.

What is kept says on which kind of processor it was measured, and replaces what was kept of that kind alone.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import platform
import re
import sys
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bench.common import Row
from demur import processor
from demur.experiments.results import provenance
from demur.files import replacing

PARTS = (
    "measures",
    "bm25",
    "ask",
    "loading",
    "risk",
    "alignment",
    "encoder",
    "training",
    "scan",
    "finetune",
    "committee",
)
ALONE = (
    "rank",
    "memory",
    "large",
    "again",
    "kb",
    "serve",
    "scale",
    "bases",
    "millions",
)  # asked for by name: they take more than is here, or long
PACKAGES = (
    "demur",
    "numpy",
    "scipy",
    "torch",
    "onnxruntime",
    "ray",
    "psycopg",
    "lancedb",
    "tantivy",
    "sentence-transformers",
    "fastembed",
    "FlashRank",
    "rank-bm25",
    "bm25s",
    "ir-measures",
)


def machine() -> str:
    """What the figures were measured on."""
    return f"{processor.this_processor().name}, {processor.cores()} cores, Python {platform.python_version()}"


def kept_as(part: str) -> str:
    """The name of the file that keeps a part as it was measured on this kind of processor."""
    return f"{part}.{re.sub('[^a-z0-9]+', '-', processor.this_processor().label.lower()).strip('-')}.json"


def versions() -> dict[str, str]:
    """Of the packages that take part, as far as they are installed."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def run(part: str) -> tuple[str, list[Row]]:
    """What a part is about, and its rows, printed as they come."""
    module = importlib.import_module(f"bench.{part}")
    rows: list[Row] = module.run()
    for row in rows:
        mark = "ok  " if row["met"] else "MISS"
        print(f"  {mark} {row['what']:<58} {row['found']:>24}   goal {row['goal']}", flush=True)
    return (inspect.getdoc(module) or "").partition("\n")[0], rows


def main() -> int:
    """Print all rows; exit with 1 if one misses its goal."""
    arguments = argparse.ArgumentParser("python -m bench", description=__doc__)
    arguments.add_argument("parts", nargs="*", metavar="PART", help=", ".join((*PARTS, *ALONE)))
    arguments.add_argument("-o", dest="folder", type=Path, help="keep each part there, as PART.KIND.json")
    chosen = arguments.parse_args()
    if unknown := set(chosen.parts) - {*PARTS, *ALONE}:
        arguments.error(f"there is no part {', '.join(sorted(unknown))}")
    print(machine())
    print(processor.this_processor().label)
    print(", ".join(f"{package} {number}" for package, number in versions().items()))
    missed = 0
    for part in chosen.parts or PARTS:
        print(f"\n{part}")
        about, rows = run(part)
        missed += sum(not row["met"] for row in rows)
        if chosen.folder:
            made = {"commit": provenance.commit(), "machine": machine(), "versions": versions()}
            kind = {"processor": asdict(processor.this_processor()), "threads": processor.threads()}
            kept = {"about": about, **made, **kind, "rows": rows}
            chosen.folder.mkdir(parents=True, exist_ok=True)
            with replacing(chosen.folder / kept_as(part)) as file:
                file.write(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
