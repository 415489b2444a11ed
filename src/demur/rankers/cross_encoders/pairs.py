"""Questions and answers as the tokens of pairs, and batches of pairs with little padding."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from demur.types import FloatArray, IntArray, Pool

if TYPE_CHECKING:
    import torch

_TOGETHER = 8192  # pairs tokenised in one call
_log = logging.getLogger("demur")


class Batched(Protocol):
    """What a network learns from, as tokens: pairs, or pairs with others beside them."""

    @property
    def cut(self) -> int:
        """How many were too long."""
        ...

    @property
    def lengths(self) -> IntArray:
        """Tokens of each."""
        ...

    def batch(self, chosen: Sequence[int], device: str = "cpu", pad: int = 1) -> dict[str, torch.Tensor]:
        """Some of them as what the network takes."""
        ...


@dataclass(frozen=True)
class Pairs:
    """Tokens of pairs, end to end, in two arrays: a pair is ``tokens[first[i] : first[i + 1]]``."""

    tokens: IntArray
    kinds: IntArray  # per token: 0 for the question's, 1 for the answer's
    first: IntArray  # one more than pairs
    padding: int
    typed: bool  # whether the network is told the kinds
    shortened: NDArray[np.bool_]  # pairs that were too long

    @property
    def cut(self) -> int:
        """How many were too long."""
        return int(self.shortened.sum())

    @property
    def lengths(self) -> IntArray:
        """Tokens of each pair."""
        return np.diff(self.first)

    def batch(self, chosen: Sequence[int], device: str = "cpu", pad: int = 1) -> dict[str, torch.Tensor]:
        """Some pairs as what a network takes: pairs × tokens, padded on the right.

        Tokens are a multiple of `pad`, but never more than the longest pair of all has.
        """
        import torch

        lengths = self.lengths[chosen]
        tokens = -(-int(lengths.max(initial=1)) // pad) * pad
        shape = len(chosen), min(tokens, int(self.lengths.max(initial=1)))
        ids, kinds, mask = np.full(shape, self.padding), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, (pair, length) in enumerate(zip(chosen, lengths.tolist(), strict=True)):
            at = slice(self.first[pair], self.first[pair] + length)
            ids[row, :length], kinds[row, :length], mask[row, :length] = self.tokens[at], self.kinds[at], 1
        arrays = {"input_ids": ids, "attention_mask": mask} | (
            {"token_type_ids": kinds} if self.typed else {}
        )
        return {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}


def tokenised(tokenizer: Any, pools: Sequence[Pool], max_length: int) -> Pairs:
    """The pairs of some pools, pool after pool; of what is too long the answer's end is cut."""
    questions = [whole(pool.question) for pool in pools for _ in pool.candidates]
    answers = [whole(candidate.text) for pool in pools for candidate in pool.candidates]
    longest = max_length // 2  # a question longer than that is cut too
    tokens: list[Any] = []
    kinds: list[Any] = []
    counts = [0]
    shortened: list[bool] = []
    for at in range(0, len(answers), _TOGETHER):
        found = tokenizer(
            _shortened(tokenizer, questions[at : at + _TOGETHER], longest),
            answers[at : at + _TOGETHER],
            truncation="only_second",
            max_length=max_length,
            return_token_type_ids=True,
            return_attention_mask=False,
            verbose=False,
        )
        whole_ones = found.encodings or ()  # tokenisers without Rust do not say what they cut
        shortened += [bool(each.overflowing) for each in whole_ones] or [
            len(each) == max_length for each in found["input_ids"]
        ]
        tokens += [np.array(each, np.int64) for each in found["input_ids"]]
        kinds += [np.array(each, np.int64) for each in found["token_type_ids"]]
        counts += [len(each) for each in found["input_ids"]]
    empty = np.empty(0, np.int64)
    return Pairs(
        np.concatenate([empty, *tokens]),
        np.concatenate([empty, *kinds]),
        np.cumsum(counts),
        int(tokenizer.pad_token_id or 0),
        "token_type_ids" in tokenizer.model_input_names,
        np.array(shortened, np.bool_),
    )


def joined(pairs: Pairs, tokenizer: Any, others: Sequence[Sequence[str]], block: int, longest: int) -> Pairs:
    """The pairs with further texts behind each, of `block` tokens at most, with kinds from 2 on.

    Texts for which no room is left are left out.
    """
    different = list(dict.fromkeys(whole(text) for near in others for text in near))
    ids = (
        tokenizer(different, add_special_tokens=False, truncation=True, max_length=block - 1, verbose=False)[
            "input_ids"
        ]
        if different
        else []
    )
    known = {text: [*each, int(tokenizer.sep_token_id)] for text, each in zip(different, ids, strict=True)}
    tokens: list[Any] = []
    kinds: list[Any] = []
    for place, near in enumerate(others):
        at = slice(pairs.first[place], pairs.first[place + 1])
        row, kind = [pairs.tokens[at]], [pairs.kinds[at]]
        room = longest - len(row[0])
        for number, text in enumerate(near, 2):
            more = known[whole(text)][: max(room, 0)]
            room -= len(more)
            row.append(np.array(more, np.int64))
            kind.append(np.full(len(more), number))
        tokens.append(np.concatenate(row))
        kinds.append(np.concatenate(kind))
    empty = np.empty(0, np.int64)
    first = np.cumsum([0, *map(len, tokens)])
    return Pairs(
        np.concatenate([empty, *tokens]),
        np.concatenate([empty, *kinds]),
        first,
        pairs.padding,
        True,
        pairs.shortened,
    )


def whole(text: str) -> str:
    """The text without halves of characters, which a tokeniser refuses."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _shortened(tokenizer: Any, questions: list[str], longest: int) -> list[str]:
    """The questions, those cut that would leave no room for an answer."""
    if all(len(question) <= longest for question in questions):  # a token has at least one character
        return questions
    short: dict[str, str] = {}
    for question in dict.fromkeys(questions):
        spans = tokenizer(
            question,
            add_special_tokens=False,
            return_offsets_mapping=True,
            truncation=True,
            max_length=longest,
            verbose=False,
        )["offset_mapping"]
        short[question] = question[: spans[-1][1]] if len(spans) >= longest else question
    return [short[question] for question in questions]


def by_length(lengths: IntArray, budget: int, among: Sequence[int] | None = None) -> Iterator[list[int]]:
    """Places in batches of at most `budget` tokens, padding counted; the longest come first."""
    places = np.arange(len(lengths)) if among is None else np.asarray(among, np.int64)
    places = places[np.argsort(-lengths[places], kind="stable")]
    at = 0
    while at < len(places):
        together = max(1, budget // max(int(lengths[places[at]]), 1))
        yield places[at : at + together].tolist()
        at += together


def stretches(pools: Iterable[Pool], pairs: int) -> Iterator[list[Pool]]:
    """The pools in order, so many at a time that they have `pairs` or more; at the end perhaps fewer."""
    held: list[Pool] = []
    count = 0
    for pool in pools:
        held.append(pool)
        count += len(pool)
        if count >= pairs:
            yield held
            held, count = [], 0
    if held:
        yield held


def scored_once(
    pools: Sequence[Pool], score: Callable[[Sequence[tuple[str, str]]], FloatArray], together: int
) -> list[FloatArray]:
    """One array of scores per pool; pairs are taken about so many `together`, and equal ones scored once."""
    found = []
    for some in stretches(pools, together):
        pairs = dict.fromkeys((pool.question, answer) for pool in some for answer in pool.answers)
        places = {pair: number for number, pair in enumerate(pairs)}
        scores = score(list(pairs)) if pairs else np.empty(0)
        found += [
            scores[np.array([places[pool.question, text] for text in pool.answers], np.int64)]
            for pool in some
        ]
    return found


def warn_of_cut(cut: int, pairs: int, length: int, max_length: int) -> None:
    """Log how many pairs were too long, and whether a setting would help."""
    if cut:
        more = "; set max_length" if length == max_length else ", all that the network can read"
        _log.warning(f"{cut:,} of {pairs:,} pairs were cut at {length} tokens{more}")
