"""A doubt in a folder, with the probes that it looks through; a reader's own lies in the reader's folder.

The folder is one of `demur.store`: each file has a checksum, and ``made`` says whose doubt it is. Probes of
one reader say nothing of another, so that another is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from demur import store
from demur.doubt.base import Doubt, doubt
from demur.doubt.observing import observe
from demur.doubt.probing.probes import Probes
from demur.errors import DataError, UsageError, require
from demur.reading.base import Reader
from demur.types import FloatArray, Pool

PLACE = "doubt"
_LEARNT, _PROBES = "learnt.safetensors", "probes.safetensors"


@dataclass(frozen=True, eq=False)
class TrainedDoubt:
    """A doubt that knows all it needs, and the probes, if it looks at what they see."""

    doubt: Doubt
    probes: Probes | None = None

    def __post_init__(self) -> None:
        if self.doubt.needs_fitting:
            raise UsageError(f"{self.doubt.spec} is not trained yet; fit it before it is used")
        if self.doubt.pictures and self.probes is None:
            raise UsageError(f"{self.doubt.spec} needs probes; give the probes with it")

    @property
    def fingerprint(self) -> str:
        """A hash of all that a confidence depends on, besides the reader."""
        digest = hashlib.sha256(self.doubt.spec.encode())
        learnt = self.doubt.learnt
        for array in (
            *(learnt[name] for name in sorted(learnt)),
            *(self.probes.weights if self.probes else ()),
        ):
            digest.update(f"{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def confidence(self, reader: Reader, pools: Sequence[Pool]) -> FloatArray:
        """How sure the reader may be of what it quotes from each question's passage."""
        return self.doubt.confidence_of(observe(reader, pools, self.probes))


def train_doubt(
    how: str | Doubt, reader: Reader, pools: Sequence[Pool], train: Sequence[Pool] = ()
) -> TrainedDoubt:
    """A doubt of a reader, fitted on questions of SQuAD's kind that the reader has not learnt from.

    Where it looks at what probes see, they learn from `train`, which the reader may have seen.
    """
    how = doubt(how)
    probes = None
    if how.pictures:
        if not train:
            raise UsageError(f"{how.spec} needs probes; give questions to train them on, as train=…")
        require("torch", extra="encoder")
        from demur.doubt.probing.probe_training import ProbeTrainer

        probes = ProbeTrainer().train(reader, train)
    if how.needs_fitting:
        seen = observe(reader, pools, probes)
        how = how.fit(seen, seen.predictions(pools, seen.probability).correct)
    return TrainedDoubt(how, probes)


def place_of(reader: Reader) -> Path:
    """Where a reader's own doubt lies."""
    if not reader.folder:
        what = f"{reader.name} is not in a folder of demur, and its doubt is saved beside it"
        raise UsageError(f"{what}; save it in one: demur calibrate … --doubt learned -o FOLDER does")
    return Path(reader.folder) / PLACE


def save(
    kept: TrainedDoubt, reader: Reader, folder: Path | None = None, made: Mapping[str, Any] | None = None
) -> Path:
    """Write a doubt of this reader; into the reader's folder, if no other is named. The folder comes back."""
    folder = folder or place_of(reader)
    with store.saving(folder, kept.doubt.spec, {**(made or {}), "reader": reader.fingerprint}) as inside:
        learnt = {name: np.ascontiguousarray(each) for name, each in kept.doubt.learnt.items()}
        if learnt:
            save_file(learnt, inside / _LEARNT)
        if kept.probes is not None:
            layers = enumerate(kept.probes.weights)
            save_file({f"{at:03}": np.ascontiguousarray(each) for at, each in layers}, inside / _PROBES)
    return folder


def _arrays(path: Path) -> dict[str, Any]:
    """The arrays in a file."""
    try:
        return load_file(path)
    except (SafetensorError, ValueError) as error:
        raise DataError(f"is broken ({error})", path=path, fix="fit the doubt again") from None


def open_doubt(reader: Reader, folder: Path | None = None) -> TrainedDoubt:
    """The doubt of this reader in a folder, or in its own."""
    folder = folder or place_of(reader)
    model = store.open_folder(folder)
    if model.made.get("reader") != reader.fingerprint:
        fix = "fit a doubt for this one, or open the reader with the settings that it had"
        raise DataError(f"is the doubt of another reader than {reader.spec}", path=folder, fix=fix)
    found = doubt(model.spec)
    if _LEARNT in model.files:
        found = found.knowing(_arrays(folder / _LEARNT))
    probes = None
    if _PROBES in model.files:
        arrays = _arrays(folder / _PROBES)
        probes = Probes(tuple(arrays[name] for name in sorted(arrays)))
    return TrainedDoubt(found, probes)
