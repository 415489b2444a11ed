"""PROBE-CNN (Su et al. 2019, 5.3) as it is used: pictures of what layers say in, a log-odds out, in numpy.

The network has the shape of `demur.nets.readers.probe_cnn`, where it is taught.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from demur.doubt.base import Arrays, Doubt
from demur.doubt.observed import Observed
from demur.errors import UsageError, require
from demur.risk.predictions import BoolArray
from demur.types import FloatArray, IntArray

FIRST, SECOND = 16, 8  # channels of the two convolutions
Images = NDArray[np.float32]
_FAINTEST = 14.0  # minus the logarithm of a probability that is as good as 0
_TOGETHER = 1 << 16  # numbers of a batch of pictures, padding counted


@dataclass(frozen=True)
class ProbeCNN(Doubt):
    """A confidence from the probes of all layers: two convolutions, and the `top` of each channel.

    Trained on AD+ against AD− and UD only. `layers` are ``all`` or the ``last``; `order` is that of positions
    in the passage (``as-read``), or ``sorted`` by the last layer's scores, so that positions do not matter;
    `scale` takes a ``probability`` as it is, or its ``log``. The loss is ``pairwise`` logistic, ``hinge`` or
    ``bce``; a share of the questions, `held_out`, stops training where its AURC is best.
    """

    name: ClassVar[str] = "probe-cnn"
    pictures: ClassVar[bool] = True
    lowest: ClassVar[float] = -1e6  # of log-odds
    layers: str = "all"
    order: str = "as-read"
    scale: str = "probability"
    loss: str = "pairwise"
    top: int = 10
    epochs: int = 20
    patience: int = 4
    batch: int = 64
    learning_rate: float = 0.001
    held_out: float = 0.2
    seed: int = 0
    weights: Arrays = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for key, known in (
            ("layers", ("all", "last")),
            ("order", ("as-read", "sorted")),
            ("scale", ("probability", "log")),
            ("loss", ("pairwise", "hinge", "bce")),
        ):
            if getattr(self, key) not in known:
                raise UsageError(
                    f"{key}={getattr(self, key)} is not known; write {key}={f' or {key}='.join(known)}"
                )
        if min(self.top, self.epochs, self.patience, self.batch) < 1 or not 0 < self.held_out < 1:
            raise UsageError(
                "top, epochs, patience and batch must be 1 or more, and held_out between 0 and 1"
            )

    @property
    def needs_fitting(self) -> bool:
        """Whether nothing has been learnt yet."""
        return not self.weights

    def fit(self, seen: Observed, right: BoolArray) -> Self:
        """The doubt as the answers that are given have taught it; this needs torch."""
        require("torch", extra="train")
        from demur.doubt.probing.cnn_training import train_cnn

        return self.knowing(train_cnn(self, seen, right))

    def confidence_of(self, seen: Observed, others: Sequence[Observed] = ()) -> FloatArray:
        """The log-odds of being right, but for a constant."""
        if not self.weights:
            raise UsageError("probe-cnn is not trained yet; call fit, or open what was saved")
        found = np.empty(len(seen))
        for places in batches(seen.sizes, self.height(seen)):
            images, there = self.images(seen, places)
            found[places] = forward(self.weights, images, there, self.top)
        return found

    @property
    def learnt(self) -> Arrays:
        """The weights of the network."""
        return self.weights

    def knowing(self, learnt: Arrays) -> Self:
        """The doubt with these weights."""
        found = dataclasses.replace(self)
        object.__setattr__(found, "weights", {name: np.asarray(each) for name, each in learnt.items()})
        return found

    def height(self, seen: Observed) -> int:
        """How many layers are looked at."""
        if not seen.pictures.shape[2]:
            raise UsageError("probe-cnn needs probes; observe with probes")
        return 1 if self.layers == "last" else seen.pictures.shape[2]

    def images(self, seen: Observed, places: IntArray) -> tuple[Images, BoolArray]:
        """Pictures as the network takes them: questions × layers × positions × 2; and which positions are.

        Sorted, they come by how probable the last layer holds them, to start or to end.
        """
        longest = int(seen.sizes[places].max(initial=1))
        images = np.zeros((len(places), self.height(seen), longest, 2), np.float32)
        there = np.arange(longest) < seen.sizes[places][:, None]
        for row, place in enumerate(places.tolist()):
            picture = seen.pictures[seen.bounds[place] : seen.bounds[place + 1]].astype(np.float32)
            if self.order == "sorted":
                last = picture[:, :, -1]
                order = np.lexsort((-picture.sum(axis=(1, 2)), -last[:, 0], -last.sum(axis=1)))
                picture = picture[order]
            if self.layers == "last":
                picture = picture[:, :, -1:]
            images[row, :, : len(picture)] = picture.transpose(2, 0, 1)
        if self.scale == "log":
            return (1 + np.log(np.maximum(images, np.exp(-_FAINTEST))) / _FAINTEST).astype(np.float32), there
        return images, there


def forward(weights: Arrays, images: Images, there: BoolArray, top: int) -> FloatArray:
    """The network's log-odds of each picture; Q questions, L layers, n positions."""
    inside = there[:, None, :, None]
    hidden = images  # Q × L × n × 2
    for name in ("first", "second"):
        hidden = _convolved(hidden, weights[f"{name}.weight"]) + weights[f"{name}.bias"]
        hidden = np.maximum(hidden, 0) * inside  # Q × L × n × channels
    surplus = top - hidden.shape[2]
    if surplus > 0:
        hidden = np.pad(hidden, ((0, 0), (0, 0), (0, surplus), (0, 0))).astype(np.float32)
    most = -np.sort(-hidden, axis=2)[:, :, :top]  # Q × L × top × channels
    flat = most.transpose(0, 3, 1, 2).reshape(len(images), -1)
    if flat.shape[1] != weights["last.weight"].shape[1]:
        raise UsageError("probe-cnn was fitted on a reader with other layers; fit it again")
    return np.asarray(flat @ weights["last.weight"][0] + weights["last.bias"], np.float64)


def _convolved(images: Images, weight: NDArray[np.float32]) -> Images:
    """The images convolved, 3 × 3, as if there were 0 around them."""
    rows, columns = images.shape[1:3]
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    found = np.zeros((*images.shape[:3], len(weight)), np.float32)
    for down in range(3):
        for right in range(3):
            found += padded[:, down : down + rows, right : right + columns] @ weight[:, :, down, right].T
    return found


def batches(sizes: IntArray, height: int, most: int = 1 << 30) -> Iterator[IntArray]:
    """Places of questions with windows of like length, in batches that are not too large."""
    order = np.argsort(sizes, kind="stable")
    at = 0
    while at < len(order):
        count = min(most, max(1, _TOGETHER // (height * int(sizes[order[at]]) * FIRST)))
        yield order[at : at + count]
        at += count
