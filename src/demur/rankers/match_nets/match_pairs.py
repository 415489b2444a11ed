"""Scores of pairs by nets that match words: if it may be, each text is read once for all of its pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from demur.nets.matching.match_net import Worded
from demur.rankers.match_nets.word_numbers import Read
from demur.types import IntArray

_AT_ONCE = 64  # texts; of more, the short ones are filled up too far
_HELD = 1 << 16  # words whose states are held


def scores(
    network: Worded,
    read: Read,
    questions: IntArray,
    answers: IntArray,
    words: tuple[int, int],
    batches: Sequence[IntArray],
) -> Tensor:
    """The score of each pair of texts, of which so many `words` count; `batches` are places of pairs."""
    parts = []
    if network.net.apart:
        asked = _Readings(network, read, questions, words[0], answer=False)
        told = _Readings(network, read, answers, words[1], answer=True)
        for some in batches:
            (q, q_there), (a, a_there) = asked.of(questions[some]), told.of(answers[some])
            parts.append(network.net.compare(q, a, q_there, a_there))
    else:
        own = vectors(read)
        for some in batches:
            question = torch.from_numpy(read.filled(questions[some], words[0]))
            answer = torch.from_numpy(read.filled(answers[some], words[1]))
            parts.append(network(question, answer, own))
    return torch.cat(parts)[torch.from_numpy(np.argsort(np.concatenate(batches)))]


def vectors(read: Read) -> Tensor | None:
    """The vectors that texts have of their own, if they have."""
    return None if read.vectors is None else torch.from_numpy(read.vectors)


def stretches(
    read: Read, questions: IntArray, answers: IntArray, words: tuple[int, int]
) -> Iterator[IntArray]:
    """The places of pairs one after the other, parted so that their texts have not too many words in all."""
    lengths = np.diff(read.first)
    sizes = [np.minimum(lengths, most).tolist() for most in words]
    first, count = 0, 0
    held: tuple[set[int], set[int]] = set(), set()
    for place, pair in enumerate(zip(questions.tolist(), answers.tolist(), strict=True)):
        new = sum(sizes[side][text] for side, text in enumerate(pair) if text not in held[side])
        if count + new > _HELD and place > first:
            yield np.arange(first, place)
            first, count, held = place, 0, (set(), set())
            new = sum(sizes[side][text] for side, text in enumerate(pair))
        count += new
        for side, text in enumerate(pair):
            held[side].add(text)
    yield np.arange(first, len(questions))


class _Readings:
    """What a net makes of some texts, word after word; each is read once, those of like length together."""

    def __init__(self, network: Worded, read: Read, texts: IntArray, longest: int, answer: bool) -> None:
        self.texts = np.unique(texts)
        order = np.argsort(np.diff(read.first)[self.texts], kind="stable")
        found, lengths, own = [], [], vectors(read)
        for some in np.array_split(order, -(-len(order) // _AT_ONCE)):
            numbers = torch.from_numpy(read.filled(self.texts[some], longest))
            made, there = network.read(numbers, answer, own)
            there = there[:, : made[0].shape[1]]
            found.append([part[:, : there.shape[1]][there] for part in made])  # words × any
            lengths.append(there.sum(1).numpy())
        self.lengths, self.first = np.empty_like(order), np.empty_like(order)
        self.lengths[order] = np.concatenate(lengths)
        self.first[order] = np.cumsum(self.lengths[order]) - self.lengths[order]
        self.nothing = int(self.lengths.sum())  # the row of zeros behind all words
        self.made = [
            torch.cat([*each, each[0].new_zeros(1, each[0].shape[1])]) for each in zip(*found, strict=True)
        ]

    def of(self, texts: IntArray) -> tuple[list[Tensor], Tensor]:
        """The same of some of the texts, b × t × any, and which places are words."""
        at = np.searchsorted(self.texts, texts)
        lengths, first = self.lengths[at, None], self.first[at, None]
        place = np.arange(lengths.max())
        there = place < lengths
        rows = torch.from_numpy(np.where(there, first + place, self.nothing))
        made = [each.index_select(0, rows.flatten()).view(*rows.shape, -1) for each in self.made]
        return made, torch.from_numpy(there)
