"""Mini as a network of torch: what training makes, and what is exported."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from demur.errors import UsageError
from demur.rankers.cross_encoders.cross_encoder import positions
from demur.reading.confidence import ConfidenceModel
from demur.reading.one_pass import OnePassReader, glance
from demur.reading.readers.network import Window
from demur.reading.readers.span_reader import SpanReader, Tokens, read_with_places
from demur.reading.spans import Through

if TYPE_CHECKING:
    import torch

    from demur.nets.readers.mini import Mini

_EIGHT = 8


@dataclass(frozen=True)
class MiniTorch(OnePassReader, SpanReader):
    """A network that ranks, quotes and gives a confidence, in torch; ``demur export`` makes a ``mini`` of it.

    The base may be any Hugging Face encoder or cross-encoder, as `model`; missing weights are initialised at
    random.
    """

    name: ClassVar[str] = "mini-torch"
    _confidence_model: ConfidenceModel | None = field(default=None, init=False, repr=False, compare=False)

    @staticmethod
    def load(place: str) -> tuple[torch.nn.Module, Any]:
        """The network and the tokeniser that lie in a folder."""
        from demur.nets.readers.mini import load

        return read_with_places(place, load, "mini")

    @property
    def confidence_model(self) -> ConfidenceModel | None:
        """What makes a confidence of signals; None if it has not been taught."""
        if self._confidence_model is not None or not self.folder:
            return self._confidence_model
        layers = int(cast("Any", self._network()[0]).probes.shape[0])
        found = ConfidenceModel.load(Path(self.folder), layers)
        object.__setattr__(self, "_confidence_model", found)  # the field that no caller may set
        return found

    def with_confidence(self, confidence_model: ConfidenceModel) -> Self:
        """The same network with a confidence."""
        made = self.holding(*self.fresh())
        object.__setattr__(made, "_confidence_model", confidence_model)
        return made

    def resized(self, max_length: int, stride: int) -> Self:
        """The same network with other windows."""
        made = dataclasses.replace(self, max_length=max_length, stride=stride)
        for name in ("_held", "_confidence_model"):  # the fields that no caller may set
            object.__setattr__(made, name, getattr(self, name))
        return made

    def forward(
        self, network: torch.nn.Module, windows: Sequence[Tokens], states: bool = False, through: Through = ()
    ) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
        """Raise an error: it is taught three things at a time, which other trainers cannot do."""
        raise UsageError("only the trainer mini teaches a mini-torch; use demur train --trainer mini")

    def _seen(
        self, network: torch.nn.Module, windows: Sequence[Window], at: int, states: bool, through: Through
    ) -> list[Any]:
        if states or through:
            raise UsageError(f"{self.name} has probes of its own, and shows no states; ask it by `look`")
        some = cast("Sequence[Tokens]", windows)
        batch, _ = batch_of(some, next(network.parameters()).device, positions(network))
        found = [each.cpu().numpy() for each in self.computed(lambda: cast("Mini", network)(batch))]
        return [glance(window, at, *(each[row] for each in found)) for row, window in enumerate(some)]

    def save_into(self, folder: Path) -> str:
        """The spec of the model whose files now lie in the folder."""
        spec = super().save_into(folder)
        if self.confidence_model is not None:
            self.confidence_model.save(folder)
        return spec


def batch_of(
    windows: Sequence[Tokens], device: Any, most: int
) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Windows as what a network takes, and where there are positions: windows × tokens, filled up.

    Lengths are multiples of eight, or the `most` that the network reads: for every new shape torch makes, and
    keeps, kernels of its own.
    """
    import torch

    look = windows[0].look
    longest = max(len(window.ids) for window in windows)
    shape = len(windows), max(longest, min(_EIGHT * -(-longest // _EIGHT), most))
    ids, mask, kinds = np.full(shape, look.padding), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    there = np.zeros(shape, np.bool_)
    for row, window in enumerate(windows):
        length = len(window.ids)
        ids[row, :length], mask[row, :length] = window.ids, 1
        kinds[row, : window.head], kinds[row, window.head : length] = look.kinds
        there[row, 0] = there[row, window.head : window.head + window.shown] = True
    arrays = {"input_ids": ids, "attention_mask": mask} | ({"token_type_ids": kinds} if look.typed else {})
    batch = {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
    return batch, torch.from_numpy(there).to(device)
