"""Where a result comes from: what is written down beside the figures of every run.

A result names the commit that made it. In a clone with changes that are not committed it could not, so there
runs are refused; with ``--dirty`` they are made, and their cells are marked.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.errors import UsageError

if TYPE_CHECKING:
    from demur.experiments.runs import Run

DIRTY = "+"
"""What stands behind a commit if files had changed since; alone, it means that there is no commit to name."""
_LIBRARIES = ("numpy", "scipy", "torch", "onnxruntime", "transformers", "tokenizers", "sentence-transformers")
_LIMITS = ("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA")
_FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_bf16", "asimd", "bf16")


def around(run: Run, seconds: float) -> dict[str, Any]:
    """All that is to be told of a run besides its figures, its key and its data."""
    told = {"command": command(run), "precision": precision(run), "seconds": round(seconds, 1)}
    return made() | told | {"data_hashes": data_hashes(run)}


def made() -> dict[str, Any]:
    """What made whatever is written now: the commit, the libraries, the processor, and how many threads."""
    return {"commit": commit(), "versions": versions(), "processor": processor(), "threads": threads()}


def command(run: Run) -> str:
    """The command that makes this result, or shows it where it is."""
    table = f"{run.table.paper} {run.table.table}"
    return f'demur reproduce {table} --only "{run.row.name}" --column "{run.column.name}"'


def data_hashes(run: Run) -> dict[str, str]:
    """By id, the hashes of all pools that a run has learnt from, was chosen by, or was measured on."""
    from demur.experiments.learning import hash_of, staged

    steps = staged(run.row, run.column, run.seed)
    named = " ".join([run.row.ranker, run.row.reader, run.row.others, run.row.qualifier, run.row.trainer])
    for model in run.table.model:
        if f"{{{model.name}}}" in named:
            row = replace(run.row, trainer=model.trainer, stage=model.stage)
            steps += staged(row, run.column, model.seed)
    names = [run.column.data, run.column.fit, *(name for step in steps for name in (step.data, step.dev))]
    return {name: hash_of(name) for name in sorted(filter(None, names))}


def commit() -> str:
    """The commit of the clone that this runs in, with a + if code or recipes have changed since."""
    here = Path(__file__).resolve().parents[2]  # src, of a clone

    def git(*words: str) -> str:
        try:
            done = subprocess.run(
                ["git", "-C", str(here), *words], capture_output=True, text=True, check=False
            )
        except FileNotFoundError:  # no git here
            return ""
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", "demur", "../experiments")
    known = git("rev-parse", "--short=12", "HEAD")
    return known + DIRTY * bool(changed or not known)


def refuse_dirty() -> None:
    """An error, if a result that is made now could not name its maker."""
    found = commit()
    if found == DIRTY:
        what = "demur runs outside a clone of its repository, so a result could not name its commit"
        raise UsageError(f"{what}; run in a clone, or with --dirty, which marks the cells")
    if found.endswith(DIRTY):
        what = "src/demur or experiments have uncommitted changes, so a result could not name its maker"
        raise UsageError(f"{what}; commit them, or run with --dirty, which marks the cells")


def versions() -> dict[str, str]:
    """The versions of Python and of those libraries that this process has used."""
    used = [name for name in _LIBRARIES if name.replace("-", "_") in sys.modules]
    return {"python": platform.python_version()} | {name: version(name) for name in used}


def processor() -> dict[str, Any]:
    """The processor's name, and which kinds of instructions it has that change speed or rounding."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:  # not Linux
        lines = []
    told: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition(":")
        told.setdefault(key.strip(), value.strip())
    flags = set(told.get("flags", told.get("Features", "")).split())
    limits = {name: os.environ[name] for name in _LIMITS if name in os.environ}
    return {
        "name": told.get("model name") or platform.processor() or platform.machine(),
        "has": [flag for flag in _FLAGS if flag in flags],
        **({"limited to": limits} if limits else {}),
    }


def precision(run: Run) -> str:
    """In which precision the nets of a run learnt; scores are always made in single precision."""
    from demur.training import trainer

    specs = [run.row.trainer, *(stage.trainer for stage in run.row.stage)]
    named = " ".join([run.row.ranker, run.row.reader, run.row.others, run.row.qualifier, *specs])
    specs += [model.trainer for model in run.table.model if f"{{{model.name}}}" in named]
    said = [getattr(trainer(spec), "precision", "fp32") for spec in specs if spec]
    return " ".join(dict.fromkeys(said)) or "fp32"


def threads() -> int:
    """In how many threads this process computes."""
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        return int(torch.get_num_threads())
    return int(os.environ.get("OMP_NUM_THREADS") or len(os.sched_getaffinity(0)))
