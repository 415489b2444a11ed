"""Trainers of readers: of a transformer that quotes, and of BiDAF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from demur.embedders.word_vectors.embedder import located
from demur.embedders.word_vectors.tables import Table, table
from demur.errors import UsageError
from demur.precision import of_made
from demur.rankers.base import Ranker
from demur.reading import vocabulary
from demur.reading.opening import reader as opened
from demur.reading.readers.bidaf import Bidaf as BidafReader
from demur.reading.readers.span_reader import SpanReader as TransformerReader
from demur.training.readers.base import ReaderTrainer
from demur.types import Pool

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class SpanReader(ReaderTrainer):
    """A transformer reader from any Hugging Face encoder, on questions with one passage each, as SQuAD's.

    Windows of `max_length` tokens begin `stride` tokens after each other. A step is as many of them as
    `tokens` allow; the gradients of `accumulate` steps make one, if it is set. With `early=F1` (or EM) and a
    dev set, the best epoch's weights win; with `patience`, training ends after so many epochs without a gain.
    With `null=F1` (or EM) the dev set says too how much likelier no answer may be before none is given. Where
    every question has an answer, the reader will always give one. With `quick` attention has no dropout,
    which on a CPU saves a tenth of the time, and more where texts are long. With `until`, training ends after
    so many of the `epochs`, at the learning rates of all of them: a snapshot of the longer training.

    With `together` the windows of a passage are learnt as they are read, one softmax over all of them, in one
    step however many they are; else each is by itself. With `sure`, questions without an answer whose
    `align_margin` (as the rebuilt train split has it) is below that count less, down to nothing at 0.
    `reader` is another reader, such as a folder of a span-reader: half of what is learnt is where that one
    thinks the answer starts and ends, and whether there is one.
    """

    name: ClassVar[str] = "span-reader"
    base: str = "minilm"
    learning_rate: float = 1e-4
    epochs: int = 2
    tokens: int = 4096
    max_length: int = 384
    stride: int = 128
    freeze_words: bool = True
    precision: str = "auto"
    seed: int = 0
    accumulate: int = 0  # what comes from here on is off, so that it leaves older models as they are
    early: str = ""
    patience: int = 0
    device: str = ""
    quick: bool = False
    null: str = ""
    until: int = 0
    together: bool = False
    sure: float = 0.0
    reader: str = ""

    def __post_init__(self) -> None:
        self._checked()
        if self.max_length < 16 or self.stride < 1:
            raise UsageError("max_length must be 16 or more, and stride 1 or more")
        if not self.sure >= 0:
            raise UsageError(f"sure={self.sure:g} must be an align_margin of 0 or more; 0 is off")
        if self.together and self.reader:
            raise UsageError("a reader teaches each window by itself; leave out together, or reader=…")

    @property
    def depends(self) -> str:
        """A hash of the reader that teaches, if there is one."""
        return opened(self.reader).fingerprint if self.reader else super().depends

    def begun(self, start: Ranker | None, pools: Sequence[Pool]) -> TransformerReader:
        """The reader whose network learns."""
        if start is None:
            return TransformerReader(model=self.base, precision=of_made(self.precision))
        if not isinstance(start, TransformerReader):
            raise UsageError(f"a span-reader cannot start from {start.spec}; start from another one")
        return start

    def freeze(self, network: torch.nn.Module) -> None:
        """Let the word embeddings be as they are, if it is asked for."""
        if self.freeze_words:
            from demur.nets.transformers.cross_encoder import freeze_words

            freeze_words(network)


@dataclass(frozen=True)
class Bidaf(ReaderTrainer):
    """BiDAF, on questions with one passage each, as SQuAD's; it needs no pretrained network.

    Words that have `vectors` (a file's, or those of a name such as glove) keep them as they are. For other
    words, if they occur in `least` texts or more, vectors are learnt; without a file they have `wide`
    numbers. Windows of `max_length` words begin `stride` words after each other, and a step is as many of
    them as `tokens` words allow. With `early=F1` (or EM) and a dev set, the best epoch's weights win; with
    `null=F1` (or EM) it says too how much likelier no answer may be before none is given. Where every
    question has an answer, it will always give one. With `until`, training ends after so many of the
    `epochs`, at the learning rates of all of them: a snapshot of the longer training.
    """

    name: ClassVar[str] = "bidaf"
    edition: ClassVar[int] = 2
    vectors: str = ""
    wide: int = 100
    hidden: int = 100
    filters: int = 100
    dropout: float = 0.2
    least: int = 2
    learning_rate: float = 2e-3
    epochs: int = 8
    tokens: int = 8192
    max_length: int = 400
    stride: int = 128
    precision: str = "auto"
    seed: int = 0
    accumulate: int = 0  # what comes from here on is off, so that it leaves older models as they are
    early: str = ""
    patience: int = 0
    device: str = ""
    null: str = ""
    until: int = 0

    def __post_init__(self) -> None:
        self._checked()
        if self.max_length < 16 or min(self.wide, self.hidden, self.filters, self.least, self.stride) < 1:
            raise UsageError(
                "max_length must be 16 or more; wide, hidden, filters, least and stride 1 or more"
            )
        if not 0 <= self.dropout < 1:
            raise UsageError("dropout must be a share from 0 to below 1")

    @property
    def depends(self) -> str:
        """A hash of the words' vectors, wherever they lie."""
        return self._table.fingerprint if self.vectors else ""

    @property
    def _table(self) -> Table:
        return table(located(self.vectors))

    def begun(self, start: Ranker | None, pools: Sequence[Pool]) -> BidafReader:
        """The reader whose network learns."""
        import torch

        from demur.nets.readers.bidaf import BiDAF

        if start is not None:
            if not isinstance(start, BidafReader):
                raise UsageError(f"bidaf cannot start from {start.spec}; start from another one")
            return start
        texts = [text for pool in pools for text in (pool.question, *pool.answers)]
        known = self._table if self.vectors else None
        words, fixed = vocabulary.learnt(dict.fromkeys(texts), self.least, known.words if known else ())
        wide = known.width if known else self.wide
        network = BiDAF(*words.sizes, wide, self.hidden, self.filters, self.dropout, fixed)
        if known is not None:
            rows = known.find(words.words[-fixed:] if fixed else [])
            with torch.no_grad():
                network.fixed.weight.zero_()
                network.fixed.weight[1:][rows >= 0] = torch.from_numpy(known.vectors[rows[rows >= 0]])
        return BidafReader(model="new", precision=of_made(self.precision)).holding(network, words)
