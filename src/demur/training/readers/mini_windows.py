"""What mini reads in a step: windows of pools that are ranked together, and of parts of passages.

Where a larger reader teaches, each part has its window too: the same words, as that reader's tokens.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.errors import UsageError
from demur.reading.opening import reader
from demur.reading.readers.mini_torch import MiniTorch
from demur.reading.readers.span_reader import Marks, SpanReader, Tokens
from demur.training.readers.examples import target
from demur.training.readers.mini_examples import Part
from demur.types import FloatArray, Pool

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Example:
    """Windows that count together: a pool's pairs, of which some are right; or one part of a passage."""

    windows: Sequence[Tokens]
    right: Sequence[bool]
    span: tuple[int, int] | None = None
    """The tokens with which the answer starts and ends, or 0 and 0; None where only the pool is ranked."""
    shares: FloatArray | None = None
    """How much of a teacher's trust each window has."""
    read: Tokens | None = None
    """The window as a larger reader takes it, if one teaches."""


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

    def windows(self, pairs: Sequence[tuple[str, str]], like: SpanReader, look: Marks) -> list[Tokens]:
        """Windows of all pairs that are as long as those of another reader, its marks not counted."""
        most = like.max_length - look.size + Marks.of(self._tokenizer).size
        made: Any = dataclasses.replace(self._reader, max_length=most, stride=like.stride)
        return [_bare(window) for window in made.windows(self._network, self._tokenizer, pairs)]

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


def pairs(
    begun: MiniTorch, network: torch.nn.Module, tokenizer: Any, ranked: Sequence[Pool], most: int
) -> list[Example]:
    """The windows of pools, of each pair the first, of at most so many tokens."""
    short = begun.resized(most, most)
    asked = [(pool.question, text) for pool in ranked for text in pool.answers]
    windows = short.windows(network, tokenizer, asked) if asked else []
    firsts = iter([window for window in windows if window.number == 0])
    return [
        Example(
            [_bare(next(firsts)) for _ in pool.candidates],
            [bool(candidate.label and candidate.label > 0) for candidate in pool.candidates],
        )
        for pool in ranked
    ]


def parts(
    begun: MiniTorch,
    network: torch.nn.Module,
    tokenizer: Any,
    shown: Sequence[Part],
    larger: LargerReader | None = None,
) -> list[Example]:
    """The window of each part of a passage: the first that has the answer whole, or the first."""
    asked = [(part.question, part.passage) for part in shown]
    windows = begun.windows(network, tokenizer, asked) if asked else []
    beside: dict[tuple[int, int], Tokens] = {}
    if larger and windows:
        found = larger.windows(asked, begun, windows[0].look)
        beside = {(window.pair, window.number): window for window in found}
    examples = []
    for pair, some in itertools.groupby(windows, key=lambda window: window.pair):
        each = list(some)
        places = [target(window, shown[pair].answer) for window in each]
        at = next((n for n, (first, _) in enumerate(places) if first), 0)  # the first that has it whole
        first, last = places[at]
        span = (each[at].head + first - 1, each[at].head + last - 1) if first else (0, 0)
        read = beside.get((pair, each[at].number))
        if read is not None and read.shown != each[at].shown:  # the words are parted elsewise
            read = None
        examples.append(Example([_bare(each[at])], [bool(first)], span, read=read))
    return examples


def _bare(window: Tokens) -> Tokens:
    """The window without what training does not need."""
    return dataclasses.replace(window, places=np.zeros((0, 2), np.int64), fair=np.zeros(0, np.bool_))
