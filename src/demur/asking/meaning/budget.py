"""How many passages a network reads again within a budget: by a race run once on a machine, and kept."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from demur import cache as caches
from demur import processor
from demur.errors import DemurError, UsageError
from demur.files import replacing
from demur.rankers import ranker as named

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s)", re.I)
_ROUNDS = 4
_TOGETHER = 8
_QUESTION = "How long may a tool be kept before it has to be brought back?"
_PASSAGE = "Whoever brings a tool back late pays a small fee for each day, and is told so at the desk. " * 5


class Speeds(NamedTuple):
    """Milliseconds on this machine: to find passages by their words and meaning, and to read one again."""

    finding: float
    reading: float


def milliseconds(budget: object) -> float:
    """The time that ``300ms`` or ``0.5s`` says."""
    found = _TIME.fullmatch(budget.strip()) if isinstance(budget, str) else None
    if found is None or not float(found[1]):
        raise UsageError(f"budget={budget!r} is not a time; write 300ms or 0.5s")
    return float(found[1]) * (1000 if found[2].lower() == "s" else 1)


def fitting(budget: str, most: int) -> int:
    """How many passages can be read again in a budget, of so many at most; finding them is paid for first."""
    allowed, known = milliseconds(budget), speeds()
    return max(0, min(most, int((allowed - known.finding) / known.reading)))


@cache
def speeds() -> Speeds:
    """What the race said: it is run once for a machine and its models, then kept in the cache."""
    place: Path | None = None
    broken = ValueError, TypeError, LookupError, RecursionError
    with suppress(DemurError, OSError, *broken):  # no cache, or a broken file
        place = caches.folder("budget") / f"{_here()}.json"
        known = json.loads(place.read_text("utf-8"))
        return Speeds(float(known["finding"]), float(known["reading"]))
    found = race()
    with suppress(DemurError, OSError):
        if place is not None:
            with replacing(place) as out:
                json.dump(found._asdict(), out)
    return found


def race() -> Speeds:
    """The best of some turns, after one to warm up."""
    from demur.asking import packaged
    from demur.asking.meaning import finding
    from demur.asking.reading import looks

    encoder, reader = finding.maker(), named(packaged.NAME)
    vector = _best(lambda: encoder.embed([_QUESTION]))
    read = _best(lambda: looks(reader, _QUESTION, [f"{n} {_PASSAGE}" for n in range(_TOGETHER)]))
    return Speeds(round(2 * vector, 3), max(0.001, round(read / _TOGETHER, 3)))  # half of finding is search


def _best(compute: Callable[[], object]) -> float:
    times = []
    for _ in range(1 + _ROUNDS):
        began = time.perf_counter()
        compute()
        times.append(1000 * (time.perf_counter() - began))
    return min(times[1:])


def _here() -> str:
    """A hash of what the measured speed depends on: processor, share of it that may be used, models."""
    from demur.asking import packaged
    from demur.asking.meaning import finding

    said = [platform.machine(), platform.processor(), str(processor.threads())]
    said += [finding.maker().fingerprint, named(packaged.NAME).fingerprint]
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        kinds = "model", "flags", "Features", "CPU part"
        said += sorted({line for line in lines if line.startswith(kinds)})
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]
