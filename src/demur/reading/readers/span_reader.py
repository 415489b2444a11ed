"""A transformer that reads question and passage together, and quotes from the passage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from demur.errors import DataError
from demur.rankers.cross_encoders.cross_encoder import positions
from demur.rankers.cross_encoders.pairs import whole
from demur.rankers.cross_encoders.weights import read_network
from demur.reading.base import Pair
from demur.reading.readers.network import NetworkReader, Window
from demur.reading.spans import Through, fairly, stretches
from demur.types import IntArray

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True)
class Marks:
    """What a tokeniser puts around a pair: marks before, between and behind, and the kind of each text."""

    before: list[int]
    between: list[int]
    after: list[int]
    kinds: tuple[int, int]
    typed: bool
    """Whether the network is told the kinds."""
    padding: int

    @classmethod
    def of(cls, tokenizer: Any) -> Marks:
        """As a tokeniser does it with a pair of letters."""
        pair = tokenizer("a", "b", return_token_type_ids=True, return_attention_mask=False)
        whose, ids, kinds = pair.sequence_ids(0), pair["input_ids"], pair["token_type_ids"]
        asked, shown = whose.index(0), whose.index(1)  # where the question and the passage begin
        return cls(
            ids[:asked],
            ids[asked + whose.count(0) : shown],
            ids[shown + whose.count(1) :],
            (kinds[asked], kinds[shown]),
            "token_type_ids" in tokenizer.model_input_names,
            int(tokenizer.pad_token_id or 0),
        )

    @property
    def size(self) -> int:
        """How many marks there are."""
        return len(self.before) + len(self.between) + len(self.after)


@dataclass(frozen=True)
class Tokens(Window):
    """A window as the tokens of the question and of a part of the passage, with what stands between."""

    ids: NDArray[np.int32]
    head: int
    """How many tokens there are before the passage's."""
    shown: int
    """How many tokens of the passage there are."""
    look: Marks

    @property
    def length(self) -> int:
        """How many tokens there are."""
        return len(self.ids)


def read_with_places(
    place: str, load: Callable[[str], torch.nn.Module], what: str
) -> tuple[torch.nn.Module, Any]:
    """The network and tokeniser in a folder, if the tokeniser says where tokens stand; see `read_network`."""
    network, tokenizer = read_network(place, load, what)
    if not getattr(tokenizer, "is_fast", False):
        problem = "its tokenizer does not say where tokens stand in a text"
        raise DataError(problem, path=place, fix="take a model with a tokenizer.json")
    return network, tokenizer


@dataclass(frozen=True)
class SpanReader(NetworkReader):
    """A trained transformer that quotes; or any of Hugging Face's for question answering, as `model`.

    The first token stands for no answer. Windows of `max_length` tokens begin `stride` tokens after each
    other; an answer has at most `longest` tokens.
    """

    name: ClassVar[str] = "span-reader"

    @staticmethod
    def load(place: str) -> tuple[torch.nn.Module, Any]:
        """The network and the tokeniser that lie in a folder."""
        from demur.nets.readers.span_reader import load

        return read_with_places(place, load, "reader")

    def windows(self, network: torch.nn.Module, tokenizer: Any, pairs: Sequence[Pair]) -> list[Tokens]:
        """The windows of all pairs; of a question, at most as many tokens as fill half a window."""
        look = Marks.of(tokenizer)
        room = min(self.max_length, positions(network)) - look.size
        questions = _tokenised(tokenizer, [question for question, _ in pairs])
        passages = _tokenised(tokenizer, [passage for _, passage in pairs])
        found = []
        for pair, (question, passage) in enumerate(pairs):
            asked = questions[question][0][: room // 2]
            head = np.concatenate([look.before, asked, look.between]).astype(np.int32)
            tokens, places = passages[passage]
            cut = stretches(len(tokens), room - len(asked), self.stride)
            for number, ((a, b), fair) in enumerate(zip(cut, fairly(cut, len(tokens)), strict=True)):
                ids = np.concatenate([head, tokens[a:b], look.after]).astype(np.int32)
                where = np.vstack([[0, 0], places[a:b]])
                found.append(Tokens(pair, number, where, np.append(True, fair), ids, len(head), b - a, look))
        return found

    def forward(
        self, network: torch.nn.Module, windows: Sequence[Tokens], states: bool = False, through: Through = ()
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        """How well each position starts and ends: windows × positions; and its states."""
        import torch

        from demur.nets.readers.span_reader import span_logits

        device, look = next(network.parameters()).device, windows[0].look
        shape = len(windows), max(len(w.ids) for w in windows)
        ids, mask = np.full(shape, look.padding), np.zeros(shape, np.int64)
        kinds = np.zeros(shape, np.int64)
        index = np.zeros((len(windows), 1 + max(w.shown for w in windows)), np.int64)
        there = np.zeros(index.shape, np.bool_)
        for row, window in enumerate(windows):
            length, wide = len(window.ids), 1 + window.shown
            ids[row, :length], mask[row, :length] = window.ids, 1
            kinds[row, : window.head], kinds[row, window.head : length] = look.kinds
            index[row, 1:wide] = np.arange(window.head, window.head + window.shown)
            there[row, :wide] = True
        arrays = {"input_ids": ids, "attention_mask": mask} | (
            {"token_type_ids": kinds} if look.typed else {}
        )
        batch = {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
        chosen, real = (torch.from_numpy(array).to(device) for array in (index, there))
        return span_logits(network, batch, chosen, real, states, through)


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
