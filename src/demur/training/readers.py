"""Trainers of readers: of a transformer that quotes, and of BiDAF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from demur.errors import UsageError
from demur.rankers.base import Ranker
from demur.reading.span_reader import SpanReader as TransformerReader
from demur.training.reading import ReaderTrainer
from demur.types import Pool

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class SpanReader(ReaderTrainer):
    """A transformer reader from any Hugging Face encoder, on questions with one passage each, as SQuAD's.

    Windows of `max_length` tokens begin `stride` tokens after each other. A step is as many of them as
    `tokens` allow; the gradients of `accumulate` steps make one, if it is set. With `early=F1` (or EM) and a
    dev set, the best epoch's weights win; with `patience`, training ends after so many epochs without a gain.
    Where every question has an answer, the reader will always give one.
    """

    name: ClassVar[str] = "span-reader"
    base: str = "minilm"
    learning_rate: float = 1e-4
    epochs: int = 2
    tokens: int = 4096
    max_length: int = 384
    stride: int = 128
    freeze_words: bool = True
    precision: str = "bf16"
    seed: int = 0
    accumulate: int = 0  # what comes from here on is off, so that it leaves older models as they are
    early: str = ""
    patience: int = 0
    device: str = ""

    def __post_init__(self) -> None:
        self._checked()
        if self.max_length < 16 or self.stride < 1:
            raise UsageError("max_length must be 16 or more, and stride 1 or more")

    def begun(self, start: Ranker | None, pools: Sequence[Pool]) -> TransformerReader:
        """The reader whose network learns."""
        if start is None:
            return TransformerReader(model=self.base, max_length=self.max_length, stride=self.stride)
        if not isinstance(start, TransformerReader):
            raise UsageError(f"a span-reader cannot start from {start.spec}; start from another one")
        return start

    def freeze(self, network: torch.nn.Module) -> None:
        """Let the word embeddings be as they are, if it is asked for."""
        if self.freeze_words:
            from demur.nets.cross_encoder import freeze_words

            freeze_words(network)
