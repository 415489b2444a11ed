"""A trained reader that teaches another one: where answers start and end, and whether there is one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.errors import UsageError
from demur.reading.opening import reader
from demur.reading.readers.mini_torch import MiniTorch
from demur.reading.readers.span_reader import Marks, SpanReader, Tokens

if TYPE_CHECKING:
    import torch


class LargerReader:
    """A trained reader that says of windows where their answers start and end."""

    def __init__(self, spec: str, device: str) -> None:
        found = reader(spec)
        if not isinstance(found, SpanReader) or isinstance(found, MiniTorch):
            raise UsageError(
                f"reader={spec} is a {found.name}; name a folder that demur train --trainer span-reader made"
            )
        self._reader = found
        self._network, self._tokenizer = found.fresh()
        self._network.to(device).eval()

    def beside(
        self, windows: Sequence[Tokens], pairs: Sequence[tuple[str, str]], like: SpanReader
    ) -> list[Tokens | None]:
        """For each window of another reader its own of the same words; None where it parts words elsewise."""
        if not windows:
            return []
        most = like.max_length - windows[0].look.size + Marks.of(self._tokenizer).size  # marks do not count
        made: Any = dataclasses.replace(self._reader, max_length=most, stride=like.stride)
        own = {
            (window.pair, window.number): bare(window)
            for window in made.windows(self._network, self._tokenizer, pairs)
        }
        found = [own.get((window.pair, window.number)) for window in windows]
        return [
            read if read is not None and read.shown == window.shown else None
            for window, read in zip(windows, found, strict=True)
        ]

    def told(self, windows: Sequence[Tokens | None], there: torch.Tensor) -> torch.Tensor:
        """How likely each token starts and ends the answer: b × 2 × t, the first for no answer.

        `there` says which tokens of the learner may; they are as many as the positions here. Rows without a
        window are nothing.
        """
        import torch

        known = torch.tensor([window is not None for window in windows], device=there.device)
        found = torch.zeros(len(windows), 2, there.shape[1], device=there.device)
        if read := [window for window in windows if window is not None]:
            with torch.no_grad():
                starts, ends, _ = self._reader.forward(self._network, read)
            places = there & known[:, None]
            for side, logits in enumerate((starts, ends)):
                found[:, side][places] = logits.softmax(-1)[logits > -torch.inf]
        return found


def bare(window: Tokens) -> Tokens:
    """The window without what training does not need."""
    return dataclasses.replace(window, places=np.zeros((0, 2), np.int64), fair=np.zeros(0, np.bool_))
