"""Readers that are networks of torch: windows go through them in batches, and never all at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from demur import precision
from demur.embedders.encoders.loading import device_named, together
from demur.errors import UsageError, require
from demur.rankers.cross_encoders.pairs import by_length
from demur.rankers.cross_encoders.weights import Weights
from demur.reading.base import Pair, Reader
from demur.reading.spans import Through, View
from demur.types import IntArray

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_TOGETHER = 256  # pairs among which batches of like length are made
_BUDGET_OF_STATES = 2048  # tokens of a batch whose states are asked for: they are large


@dataclass(frozen=True)
class Window:
    """A window of a pair as a network takes it; kinds of readers add to it. See `View` for its parts."""

    pair: int
    number: int
    places: IntArray
    fair: NDArray[np.bool_]

    @property
    def length(self) -> int:
        """How much there is to read."""
        raise NotImplementedError


@dataclass(frozen=True)
class NetworkReader(Weights, Reader):
    """What readers share whose network lies in a folder, in the hub, or was just trained."""

    kept: ClassVar[tuple[str, ...]] = (
        *("max_length", "stride", "longest", "n_best", "threshold", "precision", "device"),
    )
    counted: ClassVar[tuple[str, ...]] = kept[:-1]
    folder: str = ""
    model: str = ""
    max_length: int = 384
    stride: int = 128
    longest: int = 30
    n_best: int = 20
    threshold: float = 0.0
    precision: str = "auto"
    device: str = "auto"
    _held: tuple[torch.nn.Module, Any] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.folder and not self.model:
            raise UsageError(f"{self.name} needs weights; train one with demur train --trainer {self.name}")
        precision.check(self.precision)
        if self.max_length < 16:
            raise UsageError(f"max_length={self.max_length} leaves no room for a passage; use 16 or more")
        if min(self.longest, self.n_best) < 1:
            raise UsageError("longest and n_best must be 1 or more")

    @abstractmethod
    def windows(self, network: torch.nn.Module, tokenizer: Any, pairs: Sequence[Pair]) -> list[Any]:
        """The windows of all pairs, in order: at least one of each, even if it shows nothing."""

    @abstractmethod
    def forward(
        self, network: torch.nn.Module, windows: Sequence[Any], states: bool = False, through: Through = ()
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        """How well each position starts and ends: windows × positions, filled up with -inf; and its states.

        Of states there is a list of layers, each windows × positions × width, if they are asked for; or × k,
        if there is something that they are to be multiplied by.
        """

    def views(self, pairs: Sequence[Pair], states: bool = False, through: Through = ()) -> Iterator[View]:
        """What the network says of each window of each pair, a batch of windows at a time."""
        require("torch", extra="encoder")
        network, tokenizer = self._network()
        budget = together(device_named(self.device))
        for at in range(0, len(pairs), _TOGETHER):
            windows = self.windows(network, tokenizer, pairs[at : at + _TOGETHER])
            lengths = np.array([window.length for window in windows], np.int64)
            batches = _in_order(lengths, _BUDGET_OF_STATES) if states else by_length(lengths, budget)
            for batch in batches:
                some = [windows[place] for place in batch]
                yield from self._seen(network, some, at, states, through)

    def _seen(
        self, network: torch.nn.Module, windows: Sequence[Window], at: int, states: bool, through: Through
    ) -> list[View]:
        starts, ends, layers = self.computed(lambda: self.forward(network, windows, states, through))
        of_starts, of_ends = starts.double().cpu().numpy(), ends.double().cpu().numpy()
        of_layers = [layer.float().cpu().numpy() for layer in layers]
        return [
            View(
                at + window.pair,
                window.number,
                of_starts[row, : len(window.places)],
                of_ends[row, : len(window.places)],
                window.places,
                window.fair,
                tuple(layer[row, : len(window.places)] for layer in of_layers),
            )
            for row, window in enumerate(windows)
        ]


def _in_order(lengths: IntArray, budget: int) -> Iterator[list[int]]:
    """Places in batches of at most `budget` tokens, padding counted, in their order."""
    batch: list[int] = []
    longest = 0
    for place, length in enumerate(lengths.tolist()):
        if batch and (len(batch) + 1) * max(longest, length) > budget:
            yield batch
            batch, longest = [], 0
        batch.append(place)
        longest = max(longest, length)
    if batch:
        yield batch
