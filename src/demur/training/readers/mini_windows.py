"""What mini reads in a step: windows of pools that are ranked together, and of parts of passages.

Where a larger reader teaches, each part has its window too: the same words, as that reader's tokens.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demur.reading.readers.mini_torch import MiniTorch
from demur.reading.readers.span_reader import Tokens
from demur.training.readers.examples import target
from demur.training.readers.larger_reader import LargerReader, bare
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
            [bare(next(firsts)) for _ in pool.candidates],
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
    beside = larger.beside(windows, asked, begun) if larger else [None] * len(windows)
    examples = []
    for pair, some in itertools.groupby(zip(windows, beside, strict=True), key=lambda both: both[0].pair):
        each, read = zip(*some, strict=True)
        places = [target(window, shown[pair].answer) for window in each]
        at = next((n for n, (first, _) in enumerate(places) if first), 0)  # the first that has it whole
        first, last = places[at]
        span = (each[at].head + first - 1, each[at].head + last - 1) if first else (0, 0)
        examples.append(Example([bare(each[at])], [bool(first)], span, read=read[at]))
    return examples
