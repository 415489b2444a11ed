"""Runs every benchmark and prints what was measured, with the machine and the versions."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from importlib.metadata import version

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
PACKAGES = ("demur", "numpy", "scipy", "rank-bm25", "bm25s", "ir-measures")


def processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123  # not a file of ours
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main() -> int:
    """Print all rows; exit with 1 if one misses its goal."""
    print(f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(", ".join(f"{package} {version(package)}" for package in PACKAGES))
    missed = 0
    for part in sys.argv[1:] or PARTS:
        print(f"\n{part}")
        for row in importlib.import_module(f"bench.{part}").run():
            met = row["met"]
            missed += not met
            print(
                f"  {'ok  ' if met else 'MISS'} {row['what']:<58} {row['found']:>24}   goal {row['goal']}",
                flush=True,
            )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
