"""What a small net has learnt, as arrays with the features that they were learnt from; and as files."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demur.embedders import Embedder, embedder
from demur.errors import DataError
from demur.specs import Spec, parse
from demur.types import FloatArray

WEIGHTS = "model.safetensors"
HERE = "./"  # a setting of the features that begins so names a file of the model's own folder
_AGAIN = "train or copy the model again"

Arrays = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class Learnt:
    """Weights by name, and the spec of the embedder whose vectors go in."""

    features: str
    weights: Arrays
    embedder: Embedder

    @classmethod
    def of(cls, features: str, weights: Arrays) -> Learnt:
        """What was just learnt."""
        return cls(features, dict(weights), embedder(features))

    @cached_property
    def doubles(self) -> Mapping[str, FloatArray]:
        """The weights in double precision, so that no score depends on what else is scored."""
        return {name: np.asarray(array, np.float64) for name, array in self.weights.items()}

    @property
    def units(self) -> int:
        """How many units the hidden layer has."""
        return len(self.weights["hidden.bias"])

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the weights and of what makes the features, wherever they lie."""
        digest = hashlib.sha256(self.embedder.fingerprint.encode())
        for name in sorted(self.weights):
            array = np.ascontiguousarray(self.weights[name])
            digest.update(f"{name} {array.shape}".encode())
            digest.update(array.tobytes())
        return digest.hexdigest()[:16]

    def save(self, folder: Path) -> None:
        """Write the weights into a folder, and with them the files that the features are made of."""
        from safetensors.numpy import save_file

        wanted = parse(self.features)
        settings = dict(wanted.settings)
        for key, value in settings.items():
            path = Path(str(value))
            if isinstance(value, str) and value and path.exists():
                settings[key] = HERE + _copied(path, folder, key)
        features = str(Spec(wanted.name, settings))
        arrays = {name: np.ascontiguousarray(array) for name, array in self.weights.items()}
        save_file(arrays, folder / WEIGHTS, {"features": features})


def read(folder: Path, shapes: Callable[[int], Mapping[str, tuple[int, ...]]]) -> Learnt:
    """What lies in a folder: arrays as `shapes` has them for as many units as they say, all numbers finite."""
    from safetensors import SafetensorError, safe_open

    path = folder / WEIGHTS
    if not path.is_file():
        raise DataError("no such file of weights", path=path, fix="name the folder of a trained model")
    try:
        with safe_open(path, "np") as file:
            said = file.metadata() or {}
            found = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    except (SafetensorError, OSError) as error:
        raise DataError(f"cannot be read ({error})", path=path, fix=_AGAIN) from None
    units = len(found["hidden.bias"]) if "hidden.bias" in found and found["hidden.bias"].ndim else 0
    if {name: array.shape for name, array in found.items()} != shapes(units) or "features" not in said:
        raise DataError("holds the weights of another net", path=path, fix=_AGAIN)
    if not all(np.isfinite(array).all() for array in found.values()):
        raise DataError("holds weights that are no finite numbers", path=path, fix=_AGAIN)
    wanted = parse(said["features"])
    settings = {
        key: str(folder / value) if isinstance(value, str) and value.startswith(HERE) else value
        for key, value in wanted.settings.items()
    }
    return Learnt.of(str(Spec(wanted.name, settings)), found)
