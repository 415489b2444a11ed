"""A saved model is a folder: ranker.json says what it is and the checksum of every other file in it.

A folder is written beside its place and renamed, so that it is there whole or not at all. A file that is
not as it was written is refused with one line.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demur.errors import DataError, refuse_newer
from demur.files import read_json, sha256, written

FORMAT = "demur ranker 1"
FACTS = "ranker.json"
LATER = {"gate.json", "README.md"}  # may be written or changed after the folder was made


@dataclass(frozen=True)
class Model:
    """What a model folder says of itself.

    `spec` builds the ranker; one that learnt something takes the folder as its setting ``folder``. `made`
    tells how it came about: data, settings, seed, measures.
    """

    folder: Path
    spec: str
    files: Mapping[str, str]
    made: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """A hash of what is in the folder, wherever it lies."""
        import hashlib

        said = json.dumps([self.spec, dict(self.files)], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:16]


def learnt(folder: str | Path) -> dict[str, Any]:
    """The data and dev set of each stage in which the model in a folder was trained, if it says any."""
    made = open_folder(folder, check=False).made if folder and is_model(folder) else {}
    found = [{name: str(each.get(name, "")) for name in ("data", "dev")} for each in made.get("stages", [])]
    return {"stages": found} if found else {}


def is_model(folder: str | Path) -> bool:
    """Whether a model lies in a folder."""
    return (Path(folder) / FACTS).is_file()


_NEW = "name a folder that is to be made"


def free(folder: str | Path) -> Path:
    """The folder, if a model may be written there: it is new, empty, or has an older model."""
    folder = Path(folder)
    if folder.name in ("", ".."):
        raise DataError("has no name of its own, by which a model could be put there", path=folder, fix=_NEW)
    if os.path.lexists(folder) and not is_model(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError("exists already and is not a model", path=folder, fix="name another folder")
    return folder


def check_saving(folder: str | Path) -> None:
    """Raise now what `saving` would raise after long work."""
    folder = free(folder)
    with written(folder):
        beside = folder.with_name(f".{folder.name}.{os.getpid()}.part")
        beside.mkdir(parents=True, exist_ok=True)
        beside.rmdir()


@contextmanager
def saving(folder: str | Path, spec: str, made: Mapping[str, Any] | None = None) -> Iterator[Path]:
    """A folder to put a model's files into; it takes its place when all went well.

    An older model there is replaced as a whole, its gate with it: a gate speaks of one model. Any other
    folder that is not empty is refused.
    """
    folder = free(folder)
    beside = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        with written(folder):
            beside.mkdir(parents=True)
            yield beside
            files = {
                path.relative_to(beside).as_posix(): sha256(path)
                for path in sorted(beside.rglob("*"))
                if path.is_file() and path.name not in LATER
            }
            seal = Model(folder, spec, files).fingerprint
            facts = {"format": FORMAT, "spec": spec, "files": files, "seal": seal, "made": dict(made or {})}
            text = json.dumps(facts, ensure_ascii=False, indent=1, allow_nan=False)
            (beside / FACTS).write_text(text + "\n", "utf-8")
            _readable(beside, files)
            if folder.is_dir():
                old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
                folder.replace(old)
                beside.replace(folder)
                shutil.rmtree(old)
            else:
                beside.replace(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _readable(folder: Path, files: Iterable[str]) -> None:
    """Let who may read what the folder says read its files too: safetensors makes them the owner's alone."""
    mode = stat.S_IMODE((folder / FACTS).stat().st_mode)
    for name in files:
        found = (folder / name).stat()
        if found.st_nlink == 1 and stat.S_IMODE(found.st_mode) & mode != mode:
            (folder / name).chmod(mode)


def open_folder(folder: str | Path, check: bool = True) -> Model:
    """What lies in a model folder, each file checked against its checksum."""
    folder = Path(folder)
    if not is_model(folder):
        raise DataError(f"holds no model, as it has no {FACTS}", path=folder, fix="name a folder demur wrote")
    path = folder / FACTS
    again = "train or save the model again"
    facts = read_json(path, again)
    try:
        said = facts.get("format") if isinstance(facts, dict) else None
        refuse_newer(said, FORMAT, path)
        if said != FORMAT:
            raise DataError(f"is not in the form {FORMAT!r}", path=path, fix=again)
        model = Model(folder, str(facts["spec"]), dict(facts["files"]), dict(facts["made"]))
    except (ValueError, TypeError, KeyError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"is broken ({type(error).__name__}: {error})", path=path, fix=again) from None
    if facts.get("seal", model.fingerprint) != model.fingerprint:  # folders of older versions have none
        raise DataError("was changed after the model was saved (checksum)", path=path, fix=again)
    for name, expected in model.files.items() if check else ():
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise DataError(f"names a file outside its folder ({name})", path=path, fix=again)
        if sha256(folder / name) != expected:
            fix = f"copy it again, or {again}"
            raise DataError(f"is not the file that {FACTS} describes (checksum)", path=folder / name, fix=fix)
    return model
