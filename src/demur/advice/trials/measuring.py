"""What a ranker costs to use: a process of its own loads it and answers one question at a time.

Run as ``python -m demur.advice.trials.measuring``: a job as JSON on stdin, figures as JSON on stdout. Nothing
that the calling process has loaded or remembers can make the figures better or worse.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from demur.embedders.encoders.encoder import Encoder
from demur.rankers import Ranker
from demur.rankers.base import HasFiles
from demur.specs import Spelled
from demur.types import Pool

_QUESTIONS = 30
_SECONDS = 4.0  # of answering, at most


@dataclass(frozen=True)
class Cost:
    """What using a ranker takes; None where this machine does not tell."""

    load_seconds: float
    ms_per_question: float
    memory_mb: float | None  # the most that the process ever held, Python and libraries included
    disk_mb: float  # the model's files, an encoder's among them


def cost(ranker: Ranker, pools: Sequence[Pool], timeout: float) -> Cost | None:
    """The cost of a ranker on some of these pools; None where it could not be measured in the time."""
    asked = [[pool.question, pool.answers] for pool in pools if len(pool)][:_QUESTIONS]
    if not asked or timeout <= 0:
        return None
    with tempfile.TemporaryDirectory(prefix="demur-cost-") as place:
        named, disk = _placed(ranker, Path(place) / "model")
        job = json.dumps({"ranker": named, "pools": asked})
        try:
            done = subprocess.run(
                [sys.executable, "-m", "demur.advice.trials.measuring"],
                input=job.encode("utf-8", "surrogatepass"),
                capture_output=True,
                timeout=timeout,
                check=True,
                env={**os.environ, "DEMUR_CACHE": str(Path(place) / "cache"), "PYTHONIOENCODING": "utf-8"},
            )
            return Cost(**json.loads(done.stdout), disk_mb=disk)
        except (subprocess.SubprocessError, ValueError, OSError):
            return None


def _placed(ranker: Ranker, folder: Path) -> tuple[str, float]:
    """How another process finds the ranker, and the megabytes of its files."""
    disk = 0.0
    named = ranker.spec
    if isinstance(ranker, HasFiles):
        from demur.rankers.opening import save

        save(ranker, folder, {})
        named = str(folder)
        disk = _megabytes(folder)
    return named, disk + sum(_megabytes(each) for each in encoders(ranker))


def encoders(ranker: Spelled) -> set[Path]:
    """The folders of the encoders that a ranker stands on, however deep."""
    found: set[Path] = set()
    parts = [ranker]
    while parts:
        part = parts.pop()
        if isinstance(part, Encoder):
            found.add(Path(part.folder))
        parts += part.parts
    return found


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def peak_megabytes() -> float | None:
    """The most memory that this process ever held.

    Linux says it for the program that runs now; `getrusage` there also counts the one that started it.
    """
    try:
        status = Path("/proc/self/status").read_text("ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # bytes, on macOS


def measured(job: dict[str, Any]) -> dict[str, float | None]:
    """The figures of a job: a ranker's spec or folder, and pools to rank."""
    from demur.rankers.ensembles.base import resolve_member

    pools = [Pool.of(question, answers) for question, answers in job["pools"]]
    begun = time.perf_counter()
    ranker = resolve_member(job["ranker"]).prepare(pools)
    ranker.score_pools(pools[:1])
    loaded = time.perf_counter()
    times: list[float] = []
    while len(times) < len(pools) and sum(times) < _SECONDS:
        started = time.perf_counter()
        ranker.score_pools([pools[len(times)]])
        times.append(time.perf_counter() - started)
    return {
        "load_seconds": loaded - begun,
        "ms_per_question": 1000 * sum(times) / len(times),
        "memory_mb": peak_megabytes(),
    }


def plain(found: Cost | None) -> dict[str, float | None]:
    """The cost as JSON has it."""
    return {} if found is None else asdict(found)


if __name__ == "__main__":
    sys.stdout.write(
        json.dumps(measured(json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogatepass"))))
    )
