"""The processor: how many threads may use it, what kind it is, and what the environment takes from it.

As many threads are used as ``DEMUR_THREADS`` says. Where it says nothing, one for each core that this process
may run on, or fewer if its control group (a container's limit) has less processor time: half a core is one
thread. That is also what ``threads=0`` of a ranker means.
"""

from __future__ import annotations

import math
import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from demur.errors import UsageError

THREADS = "DEMUR_THREADS"
LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
"""What numpy, scipy, torch and tokenizers read once, as they are imported."""

KERNELS = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "128", "LRU_CACHE_CAPACITY": "32"}
"""What says how many kernels oneDNN keeps, and how many of each sort torch keeps that oneDNN forgot; ours.

Both are read when the first is made. A shape that is met again is no slower for it.
"""
RESTRICTING = ("ATEN_CPU_CAPABILITY", "DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA")
"""What keeps torch from features that the processor has."""

_PROC = Path("/proc")
_FEATURES = {  # the first of each line that is there; by the names that Linux gives
    "AVX-512": {"avx512f"},
    "AVX2": {"avx2"},
    "AVX": {"avx"},
    "SSE4.2": {"sse4_2"},
    "NEON": {"asimd"},
}
_EXTRAS = {
    "VNNI": {"avx512_vnni", "avx_vnni"},
    "dot": {"asimddp"},
    "i8mm": {"i8mm"},
    "bf16": {"avx512_bf16", "bf16"},
    "AMX": {"amx_tile"},
}


def threads() -> int:
    """How many threads to use, at least 1."""
    asked = os.environ.get(THREADS, "").strip()
    if not asked or asked == "0":
        return min(cores(), _quota())
    if not (asked.isascii() and asked.isdigit() and len(asked) < 12):
        raise UsageError(
            f"{THREADS}={asked[:40]} means nothing; use 1 or more, or 0 for all that may be used"
        )
    return int(asked)


def cores() -> int:
    """How many cores this process may run on, whatever share of their time it has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def restrict() -> None:
    """Keep libraries that are imported from now on, and child processes, from more threads than may be used.

    Where cores alone are the limit the environment is left as it is: libraries count cores themselves.
    """
    with suppress(UsageError):  # who asks for threads is told
        if (most := threads()) < cores():
            for name in LIBRARIES:
                said = os.environ.get(name, "")
                if not said or (said.isdigit() and int(said) > most):
                    os.environ[name] = str(most)


@lru_cache(maxsize=1)
def restrict_torch(torch: Any) -> None:
    """Keep torch from more threads than may be used, once: even if it was imported before demur.

    And from keeping a kernel for each of the last 1,024 products of another shape, a megabyte or more each.
    """
    for name, kept in KERNELS.items():
        os.environ.setdefault(name, kept)
    most = threads()
    if torch.get_num_threads() > most:
        torch.set_num_threads(most)
    if torch.get_num_interop_threads() > most:
        with suppress(RuntimeError):  # they run already, so somebody has chosen their number
            torch.set_num_interop_threads(most)


@contextmanager
def alone() -> Iterator[None]:
    """A block in which processes that are started use one thread each, as there are several of them."""
    before = os.environ.get(THREADS)
    os.environ[THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[THREADS]
        if before is not None:
            os.environ[THREADS] = before


@lru_cache(maxsize=1)
def _quota() -> int:
    return quota()


def quota(proc: Path = _PROC) -> int:
    """How many cores' time this process's control groups have, rounded up; a large number if unlimited."""
    try:
        shares = [share for folder, top in _groups(proc) for share in _shares(folder, top)]
    except (ValueError, IndexError):  # written otherwise than Linux writes it: no reason to stop
        shares = []
    return max(1, math.ceil(min(shares))) if shares else sys.maxsize


def _groups(proc: Path) -> Iterator[tuple[Path, Path]]:
    """The folder of each control group that rations processor time, and the topmost that is seen."""
    paths = {}
    for line in _lines(proc / "self" / "cgroup"):  # 0::/path, or 3:cpu,cpuacct:/path
        _, kinds, path = line.split(":", 2)
        if not kinds or "cpu" in kinds.split(","):
            paths["cgroup" if kinds else "cgroup2"] = path
    for line in _lines(proc / "self" / "mountinfo"):
        mount, _, source = line.partition(" - ")
        kind, _, options = source.split(" ", 2)
        if kind not in paths or (kind == "cgroup" and "cpu" not in options.split(",")):
            continue
        root, top = mount.split(" ")[3], Path(mount.split(" ")[4])
        below = os.path.relpath(paths[kind], root)  # a container may see its own group as the whole
        yield (top if below.startswith("..") else top / below), top


def _shares(folder: Path, top: Path) -> Iterator[float]:
    """What a group and those above it may take of processor time, in cores, as far as they are limited."""
    for place in (folder, *folder.parents):
        with suppress(ValueError, IndexError, ZeroDivisionError):  # no limit is "max" or -1
            both = " ".join(_lines(place / "cpu.max")).split() or [
                _lines(place / name)[0] for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")
            ]
            if (taken := int(both[0])) > 0:
                yield taken / int(both[1])
        if place == top:
            return


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:  # another system, or a group that only the host sees
        return []


@dataclass(frozen=True)
class Processor:
    """A kind of processor: what speed, and the last digits of scores, depend on."""

    name: str
    features: tuple[str, ...] = ()
    restricted: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """In one line, such as ``AVX-512 VNNI bf16 (AMD EPYC)``, and what the environment takes from it."""
        kind = f"{' '.join(self.features)} ({self.name})" if self.features else self.name
        return " ".join([kind, *(f"{name}={value}" for name, value in sorted(self.restricted.items()))])


def this_processor() -> Processor:
    """The processor that this runs on."""
    restricted = {name: os.environ[name] for name in RESTRICTING if os.environ.get(name)}
    return Processor(*_told(), restricted)


@lru_cache(maxsize=1)
def _told() -> tuple[str, tuple[str, ...]]:
    return read_cpuinfo()


def read_cpuinfo(proc: Path = _PROC) -> tuple[str, tuple[str, ...]]:
    """The processor's name and the features that matter, as Linux tells them; elsewhere the name alone."""
    facts: dict[str, str] = {}
    for line in _lines(proc / "cpuinfo"):
        name, _, value = line.partition(":")
        facts.setdefault(name.strip().lower(), value.strip())  # of the first core: all are alike
    flags = set(facts.get("flags", facts.get("features", "")).split())
    widest = [name for name, any_of in _FEATURES.items() if flags & any_of][:1]
    extras = [name for name, any_of in _EXTRAS.items() if flags & any_of]
    name = facts.get("model name") or facts.get("vendor_id") or platform.processor() or platform.machine()
    return _short(name), tuple(widest + extras)


def _short(name: str) -> str:
    """A processor's name without marks of trade and its clock."""
    return " ".join(re.sub(r"\((R|TM)\)|\bCPU\b|@.*|\bProcessor\b", " ", name, flags=re.IGNORECASE).split())
