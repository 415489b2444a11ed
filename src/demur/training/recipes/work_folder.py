"""The folder beside a model, ``DIR.parts``, in which unfinished training is kept until the model is there.

One run at a time can have it. Only files of our own making are removed; a folder that was there before is
refused.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from demur.errors import UsageError
from demur.files import written
from demur.locks import locked

_LOCK = "training.lock"
_OURS = re.compile(rf"{re.escape(_LOCK)}|\.?[0-9a-f]{{16}}(\.safetensors|\..*)?")


def beside(model: Path) -> Path:
    """Where what is unfinished of a model lies."""
    return model.with_name(f"{model.name}.parts")


@contextmanager
def work_folder(model: Path) -> Iterator[Path]:
    """The folder for what is unfinished; it stays if the block fails, and goes if all went well."""
    folder = beside(model)
    with written(folder):
        folder.mkdir(parents=True, exist_ok=True)
    unknown = [path.name for path in folder.iterdir() if not _OURS.fullmatch(path.name)]
    if unknown:
        what = f"{folder}, where unfinished training is kept, holds something else ({unknown[0]})"
        raise UsageError(f"{what}; move it away, or train into another folder")
    busy = f"another run is training into {folder.with_suffix('')}; wait for its end, or name another folder"
    with locked(folder / _LOCK, busy):
        try:
            yield folder
        except BaseException:
            for path in folder.iterdir():
                with suppress(OSError):  # the checkpoints of a stage that has none yet
                    path.rmdir()
            if {path.name for path in folder.iterdir()} <= {_LOCK}:  # nothing to go on from
                shutil.rmtree(folder, ignore_errors=True)
            raise
        for path in folder.iterdir():
            if path.name != _LOCK and _OURS.fullmatch(path.name):
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
        with suppress(OSError):  # if somebody has put something there
            (folder / _LOCK).unlink()
            folder.rmdir()
