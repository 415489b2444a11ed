"""What a small net has learnt, as arrays with the features that they were learnt from; and as files."""

from __future__ import annotations

import dataclasses
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
from demur.embedders.encoders.encoder import Encoder
from demur.embedders.encoders.loading import MINILM
from demur.embedders.word_vectors import table_formats
from demur.embedders.word_vectors.embedder import WordVectors
from demur.errors import DataError
from demur.specs import parse
from demur.types import FloatArray

WEIGHTS = "model.safetensors"
_AGAIN = "train or copy the model again"

Arrays = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class NetWeights:
    """Weights by name, and the spec of the embedder whose vectors go in."""

    features: str
    weights: Arrays
    embedder: Embedder

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
        from safetensors.numpy import save

        inside, features = _with_files(embedder(self.features), folder)
        arrays = {name: np.ascontiguousarray(array) for name, array in self.weights.items()}
        said = json.dumps({"spec": features, "inside": inside})  # one entry: of several the order would vary
        (folder / WEIGHTS).write_bytes(save(arrays, {"features": said}))


def _with_files(found: Embedder, folder: Path) -> tuple[str, str]:
    """The setting that names a file now copied into the folder, or none; and the spec that names it there.

    What has a name everywhere, such as a model of the Hugging Face hub, is not copied.
    """
    if isinstance(found, WordVectors):
        table_formats.write_table(folder / "vectors.safetensors", found.table)
        return "vectors", dataclasses.replace(found, vectors="vectors.safetensors").spec
    if isinstance(found, Encoder) and found.model != MINILM and Path(found.model).expanduser().is_dir():
        shutil.copytree(Path(found.model).expanduser(), folder / "encoder")
        return "model", dataclasses.replace(found, model="encoder").spec
    return "", found.spec


def read_weights(folder: Path, shapes: Callable[[int], Mapping[str, tuple[int, ...]]]) -> NetWeights:
    """What lies in a folder: arrays as `shapes` has them for their number of units, all finite."""
    from safetensors import SafetensorError, safe_open

    path = folder / WEIGHTS
    if not path.is_file():
        raise DataError("no such file of weights", path=path, fix="name the folder of a trained model")
    try:
        with safe_open(path, "np") as file:
            said = json.loads((file.metadata() or {}).get("features", "{}"))
            found = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    except (SafetensorError, OSError, ValueError) as error:
        raise DataError(f"cannot be read ({error})", path=path, fix=_AGAIN) from None
    units = len(found["hidden.bias"]) if "hidden.bias" in found and found["hidden.bias"].ndim else 0
    if {name: array.shape for name, array in found.items()} != shapes(units) or "spec" not in said:
        raise DataError("holds the weights of another net", path=path, fix=_AGAIN)
    if not all(np.isfinite(array).all() for array in found.values()):
        raise DataError("holds weights that are not finite numbers", path=path, fix=_AGAIN)
    wanted = parse(said["spec"])
    if inside := said.get("inside"):
        wanted.settings[inside] = str(folder / str(wanted.settings[inside]))
    return NetWeights(str(wanted), found, embedder(str(wanted)))
