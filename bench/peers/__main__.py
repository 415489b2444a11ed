"""Measures demur beside other libraries, row by row; each row is kept in a file as soon as it is there.

A row that is kept already is not measured again, unless `--again` says so. What cannot be measured here is
kept with the reason. The libraries must be installed beside demur: `make bench-peers`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench.__main__ import machine
from bench.peers import facts, promise, start, ties, turns
from bench.peers.files import prepared
from bench.peers.known import BY_NAME, KINDS, rows
from demur import processor
from demur.experiments.results import provenance
from demur.files import replacing

ROOT = Path(__file__).resolve().parents[2]
MODELS, KEPT = ROOT / "build" / "peers", ROOT / "results" / "peers"
COMMAND = "make bench-peers"
ALSO = ("demur", "numpy", "torch", "transformers", "onnxruntime", "tokenizers")


def file_of(kind: str, peer: str) -> str:
    """The name of the file that keeps a row."""
    return f"{kind}.{re.sub('[^a-z0-9]+', '-', peer.lower())}.json"


def measured(kind: str, peer: str, models: Callable[[], Path]) -> Any:
    """What a row found."""
    if kind in turns.OURS:
        return turns.compared(kind, peer, models())
    if kind == "asked":
        return turns.asked(peer, models())
    if kind == "start":
        return start.started(peer, models())
    if kind == "size":
        return start.sizes(peer)
    if kind == "names":
        return facts.looked_up(peer)
    if kind == "promise":
        return promise.kept(promise.rules())
    return ties.found(peer)


def row(kind: str, peer: str, models: Callable[[], Path]) -> dict[str, Any]:
    """A row as it is kept: what was found or why not, by what, on what, and how busy the machine was."""
    began, busy = time.perf_counter(), os.getloadavg()[0]
    try:
        found: dict[str, Any] = {"found": measured(kind, peer, models)}
    except Exception as error:  # a library may raise anything; the row says what
        found = {"failed": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
    return {
        "kind": kind,
        "peer": peer,
        **found,
        "command": COMMAND,
        "commit": provenance.commit(),
        "machine": machine(),
        "processor": asdict(processor.this_processor()),
        "python": platform.python_version(),
        "threads": turns.THREADS,
        "versions": versions(peer),
        "load": [round(busy, 1), round(os.getloadavg()[0], 1)],
        "seconds": round(time.perf_counter() - began, 1),
    }


def versions(peer: str) -> dict[str, str]:
    """The peer's version, and those of what most rest on."""
    found = {}
    for package in (peer, *ALSO):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def main() -> int:
    """Measure what is missing; exit with 1 if a row failed."""
    arguments = argparse.ArgumentParser("python -m bench.peers", description=__doc__)
    arguments.add_argument("only", nargs="*", metavar="KIND|PEER", help=", ".join((*KINDS, *BY_NAME)))
    arguments.add_argument("-o", dest="folder", type=Path, default=KEPT, help="where rows are kept")
    arguments.add_argument("--again", action="store_true", help="measure also what is kept already")
    chosen = arguments.parse_args()
    if unknown := set(chosen.only) - {*KINDS, *BY_NAME}:
        arguments.error(f"there is no kind or peer {', '.join(sorted(unknown))}")
    chosen.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for kind, peer in rows():
        path = chosen.folder / file_of(kind, peer)
        if (chosen.only and not {kind, peer} & set(chosen.only)) or (path.exists() and not chosen.again):
            continue
        found = row(kind, peer, lambda: prepared(MODELS, turns.THREADS, turns.LEARNT))
        failed += "failed" in found
        print(f"{kind:<8} {peer:<22} {found['seconds']:>6.1f} s  {found.get('failed', '')}", flush=True)
        with replacing(path) as file:
            file.write(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
