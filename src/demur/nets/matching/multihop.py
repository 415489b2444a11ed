"""The Multihop Attention Network (Tran and Niederée 2018): texts are looked at several times, and compared.

b pairs, t words in a text, e numbers in a word's vector, h units each way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from demur.nets.matching.match_net import BothWays, MatchNet, filled
from demur.nets.transformers.dropout import dropout


class Multihop(MatchNet):
    """The sum of 1 + hops cosines: of what each hop sees in the question, and in the answer for it.

    With ``length`` above 0 it is as in the released code: texts are filled up to so many words, which take a
    part of the attention, and the first memory is added in place of what the hop before saw.
    """

    margin: ClassVar[float] = 0.1
    heat: ClassVar[float] = 0.05

    def __init__(
        self, wide: int, hidden: int = 64, hops: int = 2, drop: float = 0.3, length: int = 0
    ) -> None:
        super().__init__()
        self.sizes = {"wide": wide, "hidden": hidden, "hops": hops, "drop": drop, "length": length}
        self.drop, self.length = drop, length
        self.context = BothWays(nn.LSTM, wide, hidden)
        self.sequence = BothWays(nn.LSTM, 2 * hidden, hidden)
        self.looks, self.memories = (
            nn.ModuleList(nn.Linear(2 * hidden, 2 * hidden, bias=False) for _ in range(hops))
            for _ in range(2)
        )
        self.weights = nn.ModuleList(nn.Linear(2 * hidden, 1, bias=False) for _ in range(hops))

    @property
    def apart(self) -> bool:
        """In training other words are dropped of a text each time."""
        return not (self.training and self.drop)

    def read(self, text: Tensor, there: Tensor, answer: bool) -> tuple[Tensor, ...]:
        """The states of a text: b × t × 2h, zeros where nothing is there."""
        if self.length:
            text, there = filled(text, self.length), filled(there, self.length)
        return (self._dropped(self.context(self._dropped(text), there)),)

    def compare(
        self, question: Sequence[Tensor], answer: Sequence[Tensor], asked: Tensor, there: Tensor
    ) -> Tensor:
        """The score of each pair."""
        [q], [a] = question, answer
        if self.length:  # padding is looked at too
            q, a = filled(q, self.length), filled(a, self.length)
            asked, there = (there.new_ones(each.shape[:2]) for each in (q, a))
        seen = torch.stack(self.hops(q, asked))  # 1+hops × b × 2h
        return cosine_similarity(seen, self.answer(a, there, seen), dim=2).sum(0)  # b

    def hops(self, q: Tensor, asked: Tensor) -> list[Tensor]:
        """What is seen in the question, b × 2h, at first and by each hop."""
        memory = q.sum(1) / asked.sum(1, keepdim=True)  # b × 2h: the mean
        seen = [memory]
        for look, remember, weigh in zip(self.looks, self.memories, self.weights, strict=True):
            mixed = look(q).tanh() * remember(memory).tanh()[:, None]  # b × t × 2h
            seen.append(attended(q, weigh(mixed)[:, :, 0], asked))
            memory = memory + (seen[-2] if self.length else seen[-1])
        return seen

    def answer(self, a: Tensor, there: Tensor, seen: Tensor) -> Tensor:
        """What is seen in the answer, with each thing in mind that was seen in the question: k × b × 2h."""
        mixed = (a * seen[:, :, None]).flatten(0, 1)  # k·b × t × 2h
        states = self.sequence(mixed, there.repeat(len(seen), 1))
        return attended(a, states.sum(2).view(len(seen), *there.shape), there)

    def _dropped(self, x: Tensor) -> Tensor:
        return dropout(x, self.drop, self.training)


def attended(x: Tensor, weights: Tensor, there: Tensor) -> Tensor:
    """The mean of b × t × 2h weighed by the softmax of … × b × t, over the places there are: … × b × 2h."""
    shares = weights.masked_fill(~there, -torch.inf).softmax(-1)
    return (shares[..., None, :] @ x)[..., 0, :]
