"""DRCN (Kim et al. 2019): LSTMs and attention whose inputs are all that was made before, made fewer at times.

b pairs, t words in a text (m or n), e numbers in a word's vector, h units each way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, relu

from demur.nets.matching.match_net import BothWays, MatchNet
from demur.nets.transformers.dropout import dropout

EXACT = 1e-5  # cosines that are nearer to 1 are those of the same word


class Drcn(MatchNet):
    """Layers of an LSTM and attention, each put beside its input; the largest of all words; and 3 layers.

    After every second layer an autoencoder makes `small` numbers of a word. What it loses is a loss of the
    net's own, times `weight`.
    """

    margin: ClassVar[float] = 1.0
    heat: ClassVar[float] = 1.0

    def __init__(
        self,
        wide: int,
        hidden: int = 50,
        layers: int = 4,
        small: int = 100,
        dense: int = 200,
        drop: float = 0.2,
        weight: float = 1.0,
    ) -> None:
        super().__init__()
        self.sizes = {"wide": wide, "hidden": hidden, "layers": layers, "small": small}
        self.sizes |= {"dense": dense, "drop": drop, "weight": weight}
        self.drop, self.weight = drop, weight
        self.layers, self.coders = nn.ModuleList(), nn.ModuleList()
        width = wide + 1
        for number in range(layers):
            self.layers.append(BothWays(nn.LSTM, width, hidden))
            width += 4 * hidden
            if number % 2:
                self.coders.append(Autoencoder(width, small))
                width = small
        self.dense = nn.Linear(5 * width, dense)
        self.dense_again = nn.Linear(dense, dense)
        self.output = nn.Linear(dense, 1)

    def compare(
        self, question: Sequence[Tensor], answer: Sequence[Tensor], asked: Tensor, there: Tensor
    ) -> Tensor:
        """The score of each pair."""
        [q], [a] = question, answer  # b × m × e, b × n × e
        same = cosines(q, a) > 1 - EXACT  # b × m × n
        q, a = (
            torch.cat([x, same.any(by)[:, :, None].to(x.dtype)], 2) for x, by in ((q, 2), (a, 1))
        )  # one wider
        for number, layer in enumerate(self.layers):
            left, right = layer(self._dropped(q), asked), layer(self._dropped(a), there)  # b × t × 2h each
            alike = cosines(left, right)  # b × m × n
            of_answer = alike.masked_fill(~there[:, None], -torch.inf).softmax(2) @ right  # b × m × 2h
            of_question = alike.masked_fill(~asked[:, :, None], -torch.inf).softmax(1).transpose(1, 2) @ left
            q = torch.cat([left, of_answer, q], 2) * asked[:, :, None]  # 4h wider
            a = torch.cat([right, of_question, a], 2) * there[:, :, None]
            if number % 2:
                q, a = (self._coded(number // 2, x, here) for x, here in ((q, asked), (a, there)))
        one, other = (
            x.masked_fill(~here[:, :, None], -torch.inf).amax(1) for x, here in ((q, asked), (a, there))
        )  # b × width each
        both = torch.cat([one, other, one + other, one - other, (one - other).abs()], 1)
        both = self._dropped(relu(self.dense(self._dropped(both))))
        scores: Tensor = self.output(self._dropped(relu(self.dense_again(both))))[:, 0]
        return scores  # b

    def _coded(self, number: int, x: Tensor, there: Tensor) -> Tensor:
        found: tuple[Tensor, Tensor] = self.coders[number](x)
        code, made = found[0] * there[:, :, None], found[1]  # b × t × small, b × t × wide
        if self.aside is not None:
            self.aside.append(self.weight * (made - x).square()[there].mean())
        return code

    def _dropped(self, x: Tensor) -> Tensor:
        return dropout(x, self.drop, self.training)


class Autoencoder(nn.Module):
    """Fewer numbers for each word, and of these the others again."""

    def __init__(self, wide: int, small: int) -> None:
        super().__init__()
        self.encode, self.decode = nn.Linear(wide, small), nn.Linear(small, wide)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """From b × t × wide to b × t × small, and back."""
        code = relu(self.encode(x))
        return code, self.decode(code)

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """As `forward`."""
        found: tuple[Tensor, Tensor] = super().__call__(x)
        return found


def cosines(q: Tensor, a: Tensor) -> Tensor:
    """The cosines of words: b × m × n."""
    return normalize(q, dim=2) @ normalize(a, dim=2).transpose(1, 2)
