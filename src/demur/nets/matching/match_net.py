"""What the nets that match words share: what they are asked, windows to pool in, and reading both ways.

b pairs of texts, m words in a question and n in an answer, e numbers in a word's vector. What fills up a
text comes after its words and is zeros; a text has one word at least, which may be zeros too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it


class MatchNet(nn.Module):
    """A net that scores pairs of texts, given as vectors of their words."""

    margin: ClassVar[float]
    """What a right answer should have more than a wrong one, in scores of this net."""
    heat: ClassVar[float]
    """The temperature of a softmax over scores that makes it choose, and not blindly."""
    sizes: dict[str, int | float | str]
    """The settings that build it again."""
    aside: list[Tensor] | None = None
    """Losses of its own, which it adds to where a list is given, as in training."""

    @property
    def apart(self) -> bool:
        """Whether it reads texts, and the same in all of their pairs, so that once is enough."""
        return False

    def read(self, text: Tensor, there: Tensor, answer: bool) -> tuple[Tensor, ...]:
        """What it makes of texts alone, b × t × any each, from b × t × e and which words there are: b × t."""
        return (text,)

    @abstractmethod
    def compare(
        self, question: Sequence[Tensor], answer: Sequence[Tensor], asked: Tensor, there: Tensor
    ) -> Tensor:
        """The score of each pair, b, from what it made of both texts."""

    def forward(self, question: Tensor, answer: Tensor, asked: Tensor, there: Tensor) -> Tensor:
        """The score of each pair, b, from b × m × e, b × n × e, and which words there are: b × m, b × n."""
        read = self.read(question, asked, answer=False), self.read(answer, there, answer=True)
        return self.compare(*read, asked, there)

    def __call__(self, question: Tensor, answer: Tensor, asked: Tensor, there: Tensor) -> Tensor:
        """As `forward`."""
        scores: Tensor = super().__call__(question, answer, asked, there)
        return scores


class Worded(nn.Module):
    """A net with the vectors of its words: texts come as numbers of words, filled up with 0."""

    def __init__(self, net: MatchNet, vectors: Tensor, tuned: bool = False) -> None:
        super().__init__()
        self.net, self.tuned = net, tuned
        self.vectors = nn.Parameter(vectors, requires_grad=tuned)  # words × e, the first row zeros

    def forward(self, questions: Tensor, answers: Tensor, vectors: Tensor | None = None) -> Tensor:
        """The score of each pair, from b × m and b × n; `vectors` stand in place of the net's own."""
        table = self.vectors if vectors is None else vectors
        asked, told = (F.embedding(numbers, table, padding_idx=0) for numbers in (questions, answers))
        return self.net(asked, told, here(questions), here(answers))

    def read(
        self, texts: Tensor, answer: bool, vectors: Tensor | None = None
    ) -> tuple[tuple[Tensor, ...], Tensor]:
        """What the net makes of texts alone, b × t, and which of its places are words."""
        there = here(texts)
        given = F.embedding(texts, self.vectors if vectors is None else vectors, padding_idx=0)
        return self.net.read(given, there, answer), there

    def learnt(self) -> dict[str, Tensor]:
        """The weights that were not given: all, but for vectors that are not tuned."""
        return {k: v.detach() for k, v in self.state_dict().items() if self.tuned or k != "vectors"}

    def __call__(self, questions: Tensor, answers: Tensor, vectors: Tensor | None = None) -> Tensor:
        """As `forward`."""
        scores: Tensor = super().__call__(questions, answers, vectors)
        return scores


def here(numbers: Tensor) -> Tensor:
    """Which places of texts, b × t, are words; the first counts always, so that no text is empty."""
    return (numbers > 0) | (torch.arange(numbers.shape[1], device=numbers.device) == 0)


def windows(there: Tensor, count: int) -> Tensor:
    """Which places, b × t, are in which of `count` windows that cover a text evenly: b × count × t."""
    length = there.sum(1)[:, None]  # b × 1
    number = torch.arange(count, device=there.device)
    first, end = length * number // count, (length * (number + 1) + count - 1) // count  # b × count each
    place = torch.arange(there.shape[1], device=there.device)
    return (place >= first[:, :, None]) & (place < end[:, :, None])


def filled(x: Tensor, length: int) -> Tensor:
    """Vectors, b × t × e, or what is there, b × t, of so many words exactly: cut, or filled up with 0."""
    return F.pad(x, (0, 0, 0, length) if x.dim() == 3 else (0, length))[:, :length]


def padding(window: int) -> str | int:
    """What a convolution over words is to be padded with, so that `along` gives a number for each word."""
    return "same" if window % 2 else 0


def along(convolution: nn.Conv1d, x: Tensor) -> Tensor:
    """What a convolution sees at each word, b × e × t; of an even window more of what follows."""
    (window,) = convolution.kernel_size
    found: Tensor = convolution(x if window % 2 else F.pad(x, ((window - 1) // 2, window // 2)))
    return found


class BothWays(nn.Module):
    """What an LSTM or GRU says of each word from the left and from the right; padding is not read."""

    def __init__(self, kind: type[nn.LSTM] | type[nn.GRU], wide: int, hidden: int) -> None:
        super().__init__()
        self.right, self.left = (kind(wide, hidden, batch_first=True) for _ in range(2))

    def forward(self, x: Tensor, there: Tensor) -> Tensor:
        """From b × t × wide to b × t × 2h, zeros where nothing is there."""
        place = torch.arange(x.shape[1], device=x.device)
        length = there.sum(1)[:, None]  # b × 1
        back = torch.where(place < length, length - 1 - place, place)  # b × t: words turned, padding not
        states = self.left(_taken(x, back))[0]
        both = torch.cat([self.right(x)[0], _taken(states, back)], 2)  # b × t × 2h
        return both * there[:, :, None]

    def __call__(self, x: Tensor, there: Tensor) -> Tensor:
        """As `forward`."""
        states: Tensor = super().__call__(x, there)
        return states


def _taken(x: Tensor, places: Tensor) -> Tensor:
    """The vectors at some places of each text; whole rows are faster to take than number by number."""
    texts, words, wide = x.shape
    rows = places + words * torch.arange(texts, device=x.device)[:, None]  # b × t
    return x.reshape(texts * words, wide).index_select(0, rows.flatten()).view(texts, words, wide)
