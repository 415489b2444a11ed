"""ACNN and AdaQA (Shen et al. 2017): convolutions whose filters are made from a text.

b pairs, t words in a text, e numbers in a word's vector, f filters, w words in a window, h units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from demur.nets.matching.match_net import MatchNet, along, padding
from demur.nets.transformers.dropout import dropout

_BEGIN = 0.2  # times the length of a word, 4, it is near 1, and so is what filters see at first


class Adaptive(MatchNet):
    """What both nets share: filters made from a text, what they see, and two layers over both texts.

    The numbers of a text's code have a mean of 0, and no filter has a part of its own: else the filters of
    all texts would be nearly alike, as the largest of many words is a large number in every text.
    """

    margin: ClassVar[float] = 1.0
    heat: ClassVar[float] = 1.0

    def __init__(
        self,
        wide: int,
        filters: int = 50,
        window: int = 3,
        code: int = 100,
        hidden: int = 50,
        drop: float = 0.2,
    ) -> None:
        super().__init__()
        self.sizes = {"wide": wide, "filters": filters, "window": window}
        self.sizes |= {"code": code, "hidden": hidden, "drop": drop}
        self.wide, self.filters, self.window, self.drop = wide, filters, window, drop
        self.encoder = nn.Conv1d(wide, code, window, padding=padding(window))
        self.even = nn.LayerNorm(code, elementwise_affine=False)
        self.maker = nn.Linear(code, window * wide * filters, bias=False)
        self.dense = nn.Linear(4 * filters, hidden)
        self.output = nn.Linear(hidden, 1)
        nn.init.normal_(self.maker.weight, std=_BEGIN * (window * code) ** -0.5)

    def made(self, text: Tensor, there: Tensor) -> Tensor:
        """The filters for a text, b × t × e: b × w·e × f."""
        seen = along(self.encoder, text.transpose(1, 2)).tanh()  # b × code × t
        code = seen.masked_fill(~there[:, None], -1.0).amax(2)  # b × code
        made: Tensor = self.maker(self.even(code))
        return made.view(-1, self.window * self.wide, self.filters)

    def seen(self, text: Tensor, there: Tensor, filters: Tensor) -> Tensor:
        """The largest of what each filter sees in a text, b × t × e: b × f."""
        before = self.window // 2
        padded = pad(text, (0, 0, before, self.window - 1 - before))
        windows = [padded[:, at : at + text.shape[1]] for at in range(self.window)]  # b × t × e each
        found = (torch.cat(windows, 2) @ filters).tanh()  # b × t × f
        return found.masked_fill(~there[:, :, None], -1.0).amax(1)

    def scored(self, q: Tensor, a: Tensor) -> Tensor:
        """The score of each pair, b, from both texts' vectors: b × f each."""
        both = dropout(torch.cat([q, a, (q - a).abs(), q * a], 1), self.drop, self.training)  # b × 4f
        scores: Tensor = self.output(self.dense(both).tanh())[:, 0]
        return scores


class Acnn(Adaptive):
    """Each text is seen by filters that are made from itself."""

    @property
    def apart(self) -> bool:
        """A text is read by itself."""
        return True

    def read(self, text: Tensor, there: Tensor, answer: bool) -> tuple[Tensor, ...]:
        """The text as one vector: b × 1 × f."""
        return (self.seen(text, there, self.made(text, there))[:, None],)

    def compare(
        self, question: Sequence[Tensor], answer: Sequence[Tensor], asked: Tensor, there: Tensor
    ) -> Tensor:
        """The score of each pair."""
        [q], [a] = question, answer  # b × 1 × f each
        return self.scored(q[:, 0], a[:, 0])


class AdaQA(Adaptive):
    """Each text is seen by filters that are made from the other one."""

    def compare(
        self, question: Sequence[Tensor], answer: Sequence[Tensor], asked: Tensor, there: Tensor
    ) -> Tensor:
        """The score of each pair."""
        [q], [a] = question, answer  # b × m × e, b × n × e
        of_question, of_answer = self.made(q, asked), self.made(a, there)  # b × w·e × f each
        return self.scored(self.seen(q, asked, of_answer), self.seen(a, there, of_question))
