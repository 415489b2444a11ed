"""MatchPyramid (Pang et al. 2016): a picture of which words are alike, seen by a small convolution.

b pairs, m words in a question and n in an answer, e numbers in a word's vector, f filters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor, nn
from torch.nn.functional import pad, relu

from demur.nets.matching.match_net import MatchNet, windows


class MatchPyramid(MatchNet):
    """A convolution over the dot products of words, the largest of each of rows × columns windows, 2 layers.

    The windows cover as much of the picture as there are words, so that padding changes nothing.
    """

    margin: ClassVar[float] = 1.0
    heat: ClassVar[float] = 1.0

    def __init__(
        self,
        wide: int,
        filters: int = 8,
        high: int = 2,
        broad: int = 10,
        rows: int = 3,
        columns: int = 10,
        hidden: int = 20,
    ) -> None:
        super().__init__()
        self.sizes = {"wide": wide, "filters": filters, "high": high, "broad": broad}
        self.sizes |= {"rows": rows, "columns": columns, "hidden": hidden}
        self.rows, self.columns = rows, columns
        self.around = ((broad - 1) // 2, broad // 2, (high - 1) // 2, high // 2)  # as TensorFlow's SAME
        self.convolution = nn.Conv2d(1, filters, (high, broad))
        self.dense = nn.Linear(filters * rows * columns, hidden)
        self.output = nn.Linear(hidden, 1)

    def compare(
        self, question: Sequence[Tensor], answer: Sequence[Tensor], asked: Tensor, there: Tensor
    ) -> Tensor:
        """The score of each pair."""
        [q], [a] = question, answer  # b × m × e, b × n × e
        alike = (q @ a.transpose(1, 2))[:, None]  # b × 1 × m × n
        seen = relu(self.convolution(pad(alike, self.around)))  # b × f × m × n, never negative
        of_rows = windows(asked, self.rows)[:, None, :, :, None]  # b × 1 × rows × m × 1
        seen = (seen[:, :, None] * of_rows).amax(3)  # b × f × rows × n
        of_columns = windows(there, self.columns)[:, None, None]  # b × 1 × 1 × columns × n
        seen = (seen[:, :, :, None] * of_columns).amax(4)  # b × f × rows × columns
        scores: Tensor = self.output(relu(self.dense(seen.flatten(1))))[:, 0]
        return scores  # b
