"""Where a result comes from: what is written down beside the figures of every run.

A result names the commit that made it. In a clone with changes that are not committed it could not, so there
runs are refused; with ``--dirty`` they are made, and their cells are marked.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur import processor
from demur.errors import UsageError
from demur.files import sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from demur.experiments.runs import Run

DIRTY = "+"
"""What stands behind a commit if files had changed since; alone, it means that there is no commit to name."""
DIGITS = 12
"""So many of a commit's digits are kept."""
_LIBRARIES = ("numpy", "scipy", "torch", "onnxruntime", "transformers", "tokenizers", "sentence-transformers")


def run_facts(run: Run, seconds: float, taken: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    """All that is to be told of a run besides its figures, its key and its data.

    `taken` says what precision was computed in, by what for: learning, or reading.
    """
    precision = {what: sorted(of) for what, of in taken.items()}
    told = {"command": command(run), "precision": precision, "seconds": round(seconds, 1)}
    return environment() | told | {"data_hashes": data_hashes(run)} | vectors_hashes(run) | model_hashes(run)


def environment() -> dict[str, Any]:
    """What made whatever is written now: the commit, the libraries, the processor, and how many threads."""
    where = {"processor": kind(), "threads": threads()}
    return {"commit": commit(), "versions": versions()} | where | accelerator()


def command(run: Run) -> str:
    """The command that makes this result, or shows it where it is."""
    table = f"{run.table.paper} {run.table.table}"
    return f'demur reproduce {table} --only "{run.row.name}" --column "{run.column.name}"'


def data_hashes(run: Run) -> dict[str, str]:
    """By id, the hashes of all pools that a run has learnt from, was chosen by, or was measured on."""
    from demur.experiments.models.cached_models import hash_of, steps_behind

    steps = [step for steps in steps_behind(run) for step in steps]
    names = [run.column.data, run.column.fit, *(name for step in steps for name in (step.data, step.dev))]
    return {name: hash_of(name) for name in sorted(filter(None, names))}


def commit() -> str:
    """The commit of the clone that this runs in, with a + if code or recipes have changed since."""
    changed = git("status", "--porcelain", "--", "demur", "../experiments")
    known = git("rev-parse", f"--short={DIGITS}", "HEAD")
    return known + DIRTY * bool(changed or not known)


def history() -> set[str]:
    """The commits up to the one that is checked out, as results name them; none without a whole clone."""
    whole = git("rev-parse", "--is-shallow-repository") == "false"
    return {each[:DIGITS] for each in git("rev-list", "HEAD").split()} if whole else set()


def git(*words: str) -> str:
    """What git says in the clone that this runs in; nothing where there is none."""
    here = Path(__file__).resolve().parents[3]  # src, of a clone
    try:
        done = subprocess.run(["git", "-C", str(here), *words], capture_output=True, text=True, check=False)
    except FileNotFoundError:  # no git here
        return ""
    return done.stdout.strip()


def refuse_dirty() -> None:
    """Raise an error if a result that is made now could not name its maker."""
    found = commit()
    if found == DIRTY:
        what = "demur runs outside a clone of its repository, so a result could not name its commit"
        raise UsageError(f"{what}; run in a clone, or with --dirty, which marks the cells")
    if found.endswith(DIRTY):
        what = "src/demur or experiments have uncommitted changes, so a result could not name its maker"
        raise UsageError(f"{what}; commit them, or run with --dirty, which marks the cells")


def vectors_hashes(run: Run) -> dict[str, dict[str, str]]:
    """The hashes of the word vectors that a run stands on: a rerun by others is a run of something else."""
    from demur.experiments.models.rankers import word_vectors

    found = {name: sha256(file)[:16] for name, file in sorted(word_vectors(run).items())}
    return {"vectors_hashes": found} if found else {}


def model_hashes(run: Run) -> dict[str, dict[str, list[str]]]:
    """The hashes of the models that a run stands on, stage by stage, as far as they are kept."""
    from demur.experiments.models import rankers

    found = rankers.model_hashes(run)
    return {"model_hashes": found} if found else {}


def versions() -> dict[str, str]:
    """The versions of Python and of those libraries that this process has used."""
    used = [name for name in _LIBRARIES if name.replace("-", "_") in sys.modules]
    return {"python": platform.python_version()} | {name: version(name) for name in used}


def kind() -> dict[str, Any]:
    """The processor's name, its instructions that change speed or rounding, and what torch may not use."""
    found = processor.this_processor()
    return {"name": found.name, "has": list(found.features), "limited to": dict(found.restricted)}


def accelerator() -> dict[str, str]:
    """The GPU that torch takes, if there is one and torch was used."""
    torch: Any = sys.modules.get("torch")
    there = torch is not None and torch.cuda.is_available()
    return {"accelerator": str(torch.cuda.get_device_name())} if there else {}


def threads() -> int:
    """In how many threads this process computes."""
    torch: Any = sys.modules.get("torch")
    return int(torch.get_num_threads()) if torch is not None else processor.threads()
