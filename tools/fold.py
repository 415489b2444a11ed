"""Moves the loose files of results/ into the folded ones of their tables (`make fold`).

Each run is read again from what was folded, and compared, before its loose file goes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from demur.experiments.results import stored

RESULTS = Path(__file__).resolve().parents[1] / "results"


def main() -> None:
    """Fold all tables, or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m tools.fold", description="Fold loose results.")
    parser.add_argument("table", nargs="*", help="such as scan/table2; all, if none is named")
    parser.add_argument("--results", type=Path, default=RESULTS, help="another folder of results")
    asked = parser.parse_args()
    before = megabytes(asked.results)
    every = [path.relative_to(asked.results).as_posix() for path in sorted(asked.results.glob("*/*/"))]
    moved = {table: stored.fold(asked.results, table) for table in asked.table or every}
    for table, runs in moved.items():
        if runs:
            print(f"{table}: {runs} runs folded")
    after = megabytes(asked.results)
    print(f"{sum(moved.values())} runs folded; results were {before:.1f} MB, and are {after:.1f} MB")


def megabytes(folder: Path) -> float:
    """How large the files of a folder are together."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


if __name__ == "__main__":
    main()
