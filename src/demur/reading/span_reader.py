"""A transformer that reads question and passage together, and quotes from the passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demur.errors import DataError
from demur.rankers.cross_encoder import positions
from demur.rankers.pairs import whole
from demur.rankers.weights import read
from demur.reading.base import Pair
from demur.reading.network import NetworkReader, Window
from demur.reading.spans import fairly, stretches
from demur.types import IntArray

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True)
class Tokens(Window):
    """A window as the tokens of the question and of a part of the passage, with what stands between."""

    ids: IntArray
    kinds: IntArray
    index: IntArray
    """Which tokens are positions: the first, which stands for no answer, and those of the passage."""
    typed: bool
    padding: int

    @property
    def length(self) -> int:
        """How many tokens there are."""
        return len(self.ids)


@dataclass(frozen=True)
class SpanReader(NetworkReader):
    """A trained transformer that quotes; or any of Hugging Face's for question answering, as `model`.

    The first token stands for no answer. Windows of `max_length` tokens begin `stride` tokens after each
    other; an answer has at most `longest` tokens.
    """

    name: ClassVar[str] = "span-reader"
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
    precision: str = "fp32"
    device: str = "auto"
    _held: tuple[torch.nn.Module, Any] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._checked()

    @staticmethod
    def load(place: str) -> tuple[torch.nn.Module, Any]:
        """The network and the tokeniser that lie in a folder."""
        from demur.nets.span_reader import load

        network, tokenizer = read(place, load, "reader")
        if not getattr(tokenizer, "is_fast", False):
            what = "its tokenizer does not say where tokens stand in a text"
            raise DataError(what, path=place, fix="take a model with a tokenizer.json")
        return network, tokenizer

    def windows(self, network: torch.nn.Module, tokenizer: Any, pairs: Sequence[Pair]) -> list[Tokens]:
        """The windows of all pairs; of a question, at most as many tokens as fill half a window."""
        frame = tokenizer("a", "b", return_token_type_ids=True, return_attention_mask=False)
        parts, ids, kinds = frame.sequence_ids(0), np.array(frame["input_ids"]), frame["token_type_ids"]
        asked, shown = parts.index(0), parts.index(1)  # where the question and the passage begin
        behind = asked + parts.count(0), shown + parts.count(1)
        before, between, after = ids[:asked], ids[behind[0] : shown], ids[behind[1] :]
        room = min(self.max_length, positions(network)) - len(before) - len(between) - len(after)
        questions = _tokenised(tokenizer, [question for question, _ in pairs])
        passages = _tokenised(tokenizer, [passage for _, passage in pairs])
        typed, padding = "token_type_ids" in tokenizer.model_input_names, int(tokenizer.pad_token_id or 0)
        found = []
        for pair, (question, passage) in enumerate(pairs):
            head = np.concatenate([before, questions[question][0][: room // 2], between])
            tokens, places = passages[passage]
            cut = stretches(len(tokens), room - (len(head) - len(before) - len(between)), self.stride)
            for number, ((a, b), fair) in enumerate(zip(cut, fairly(cut, len(tokens)), strict=True)):
                row = np.concatenate([head, tokens[a:b], after])
                of_passage = np.arange(len(head), len(head) + b - a)
                kind = np.full(len(row), kinds[shown])
                kind[: len(head)] = kinds[asked]
                found.append(
                    Tokens(
                        *(pair, number, np.vstack([[0, 0], places[a:b]]), np.append(True, fair)),
                        *(row, kind, np.append(0, of_passage), typed, padding),
                    )
                )
        return found

    def forward(
        self, network: torch.nn.Module, windows: Sequence[Tokens], states: bool = False
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        """How well each position starts and ends: windows × positions; and its states."""
        import torch

        from demur.nets.span_reader import read

        device = next(network.parameters()).device
        ids = filled([w.ids for w in windows], windows[0].padding)
        batch = {"input_ids": ids, "attention_mask": filled([np.ones_like(w.ids) for w in windows])}
        if windows[0].typed:
            batch["token_type_ids"] = filled([w.kinds for w in windows])
        index = torch.from_numpy(filled([w.index for w in windows])).to(device)
        there = torch.from_numpy(filled([np.ones_like(w.index) for w in windows]) > 0).to(device)
        tensors = {name: torch.from_numpy(array).to(device) for name, array in batch.items()}
        return read(network, tensors, index, there, states)


def filled(rows: Sequence[IntArray], by: int = 0) -> IntArray:
    """Rows of different lengths as one array, filled up on the right."""
    table = np.full((len(rows), max(map(len, rows))), by, np.int64)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def _tokenised(tokenizer: Any, texts: Sequence[str]) -> dict[str, tuple[IntArray, IntArray]]:
    """For each different text its tokens, and where they start and end in it.

    Words such as [SEP], that mean something to the network, are read as any others.
    """
    different = list(dict.fromkeys(texts))
    found = tokenizer(
        [whole(text) for text in different],
        add_special_tokens=False,
        split_special_tokens=True,
        return_offsets_mapping=True,
        return_token_type_ids=False,
        return_attention_mask=False,
        verbose=False,
    )
    return {
        text: (np.array(ids, np.int64), np.array(places, np.int64).reshape(-1, 2))
        for text, ids, places in zip(different, found["input_ids"], found["offset_mapping"], strict=True)
    }
