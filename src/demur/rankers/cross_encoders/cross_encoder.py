"""A ranker that reads question and answer together: slower than vectors of each, and more exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demur import precision
from demur.embedders.encoders.loading import device_named, together
from demur.errors import UsageError
from demur.rankers.base import Ranker
from demur.rankers.cross_encoders.pairs import Pairs, by_length, scored_once, tokenised, warn_of_cut
from demur.rankers.cross_encoders.weights import Weights, read_network
from demur.types import FloatArray, Pool

if TYPE_CHECKING:
    import torch

_TOGETHER = 200_000  # pairs held as tokens
_COUNT_FROM_PADDING = ("roberta", "xlm-roberta", "camembert", "mpnet", "longformer")


@dataclass(frozen=True)
class CrossEncoder(Weights, Ranker):
    """A cross-encoder: one that was trained (`folder`), or any sequence classifier with one output."""

    name: ClassVar[str] = "cross-encoder"
    tolerance: ClassVar[float] = 1e-5
    alone: ClassVar[bool] = True
    kept: ClassVar[tuple[str, ...]] = ("max_length", "precision", "device")
    counted: ClassVar[tuple[str, ...]] = ("max_length", "precision")
    folder: str = ""
    model: str = ""
    max_length: int = 256
    precision: str = "auto"
    device: str = "auto"
    _held: tuple[torch.nn.Module, Any] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.folder and not self.model:
            fix = "train one with demur train, or name a sequence classifier with model=ID or a folder"
            raise UsageError(f"a cross-encoder needs weights; {fix}")
        precision.check(self.precision)
        if self.max_length < 16:
            raise UsageError(f"max_length={self.max_length} leaves no room for a pair; use 16 or more")

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool; a pair that stands there twice is scored once."""
        return scored_once(pools, self._scores, _TOGETHER)

    def _scores(self, texts: Sequence[tuple[str, str]]) -> FloatArray:
        network, tokenizer = self._network()
        length = min(self.max_length, positions(network))
        pairs = tokenised(tokenizer, [Pool.of(question, [answer]) for question, answer in texts], length)
        warn_of_cut(pairs.cut, len(texts), length, self.max_length)
        return self.read(network, pairs)

    def read(self, network: torch.nn.Module, pairs: Pairs) -> FloatArray:
        """What the network says of pairs that are tokens already."""
        from demur.nets.transformers.cross_encoder import score

        found = np.empty(len(pairs.lengths))
        device = device_named(self.device)
        for batch in by_length(pairs.lengths, together(device)):
            said = pairs.batch(batch, device)
            found[batch] = self.computed(lambda said=said: score(network, said)).cpu().numpy()  # type: ignore[misc]
        return found

    @staticmethod
    def load(place: str) -> tuple[torch.nn.Module, Any]:
        """The network and the tokeniser that lie in a folder."""
        from demur.nets.transformers.cross_encoder import load

        return read_network(place, load, "cross-encoder")


def positions(network: torch.nn.Module) -> int:
    """How many tokens a network can read at most."""
    config: Any = getattr(network, "config", None)
    # those of RoBERTa's kind count their positions from behind the padding's number
    lost = int(config.pad_token_id or 0) + 1 if config.model_type in _COUNT_FROM_PADDING else 0
    return int(getattr(config, "max_position_embeddings", 1 << 20)) - lost
