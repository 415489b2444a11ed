"""Training of a ranker that asks other answers for support."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demur import precision
from demur.errors import UsageError
from demur.rankers.base import Ranker
from demur.rankers.cross_encoders.beside import FIRST, Row
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder as CrossEncoderRanker
from demur.rankers.cross_encoders.pairs import Batched, Pairs
from demur.rankers.cross_encoders.support import Support as SupportRanker
from demur.rankers.cross_encoders.support import filled
from demur.rankers.ensembles.base import resolve_member
from demur.training.base import Reporter
from demur.training.cross_encoders.cross_encoder import CrossEncoder
from demur.types import Candidate, IntArray, Pool

if TYPE_CHECKING:
    import torch

    from demur.training.objectives.base import Objective


@dataclass(frozen=True)
class Support(CrossEncoder):
    """A cross-encoder that asks up to `k` other answers of the pool, its supports, about each answer.

    With ``by=question`` the supports are those that `first` ranks highest (ASR); with ``by=pair`` each answer
    chooses its own (DAR). It learns the ranking, and with `weight` which of an answer and a support are
    right: both, one of them, or neither. One encoder reads an answer alone and beside a support, so a step
    has six times the rows of a cross-encoder's with five supports. It may start from an ordinary
    cross-encoder, and then scores as that does at first.
    """

    name: ClassVar[str] = "support"
    whole: ClassVar[bool] = True
    accumulate: int = 4
    first: str = FIRST
    k: int = 5
    by: str = "question"
    block: int = 64
    weight: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        SupportRanker(model="unread", first="length", k=self.k, by=self.by, block=self.block)  # or says why
        if not self.weight >= 0:
            raise UsageError(f"weight={self.weight:g} must not be below 0")

    @property
    def depends(self) -> str:
        """A hash of the first ranker, and of the base if it is a folder."""
        return super().depends + resolve_member(self.first).fingerprint

    def _begun(self, start: Ranker | None) -> CrossEncoderRanker:
        if start is not None and not isinstance(start, CrossEncoderRanker):
            raise UsageError(f"a support ranker cannot start from {start.spec}; start from a cross-encoder")
        ranker = SupportRanker(
            model=self.base,
            max_length=self.max_length,
            precision=precision.of_made(self.precision),
            first=self.first,
            k=self.k,
            by=self.by,
            block=self.block,
        )
        if start is None:
            return ranker
        from demur.nets.transformers.support import Support as Network

        network, tokenizer = start.fresh()
        return ranker.holding(network if isinstance(network, Network) else Network(network), tokenizer)

    def _tokens(
        self,
        begun: CrossEncoderRanker,
        network: torch.nn.Module,
        tokenizer: Any,
        pools: Sequence[Pool],
        taught: Sequence[Pool],
    ) -> Groups:
        from demur.training.objectives.support import UNKNOWN, class_of

        assert isinstance(begun, SupportRanker)  # `_begun` has made it
        used = [pool for pool in pools if self._sampled(pool) is not None]  # of two files ids may be the same
        rows: list[Row] = []
        first, classes = [0], []
        for pool, all_of, near in zip(taught, used, begun.prepare(pools).others(used), strict=True):
            places = {(each.id, each.text): place for place, each in enumerate(all_of.candidates)}
            for each in pool.candidates:
                rows.append((pool.question, each.text, ()))
                classes.append(UNKNOWN)
                for other in (all_of.candidates[n] for n in near[places[each.id, each.text]]):
                    rows.append((pool.question, each.text, (other.text,)))
                    classes.append(class_of(bool(_right(each)), _right(other)))
                first.append(len(rows))
        return Groups(begun.tokens(network, tokenizer, rows), np.array(first), np.array(classes))

    def _fit(
        self,
        network: torch.nn.Module,
        objective: Objective,
        pairs: Batched,
        taught: Sequence[Pool],
        judge: Callable[[], float] | None,
        checkpoint: Path | None,
        report: Reporter,
    ) -> None:
        import torch

        from demur.training.objectives.support import Supporting

        assert isinstance(pairs, Groups)  # `_tokens` has made it
        config: Any = network.config
        known = torch.from_numpy(pairs.first), torch.from_numpy(pairs.classes)
        losses = Supporting(self._loss(), int(config.hidden_size), *known, self.weight)
        losses.to(next(network.parameters()).device)
        super()._fit(network, losses, pairs, taught, judge, checkpoint, report)


@dataclass(frozen=True)
class Groups:
    """The tokens of answers: for each one row of it alone, and further ones of it beside each support."""

    pairs: Pairs
    first: IntArray  # of each answer's rows; one more than answers
    classes: IntArray  # of each row, what the answer and its support are

    @property
    def cut(self) -> int:
        """Answers that were too long."""
        return int(np.logical_or.reduceat(self.pairs.shortened, self.first[:-1]).sum())

    @property
    def lengths(self) -> IntArray:
        """The tokens that each answer takes, padding counted."""
        longest: IntArray = np.maximum.reduceat(self.pairs.lengths, self.first[:-1])
        return longest * np.diff(self.first)

    def batch(self, chosen: Sequence[int], device: str = "cpu", pad: int = 1) -> dict[str, torch.Tensor]:
        """Some answers as what the network takes: the rows of each alone, then those with supports."""
        import torch

        own = self.first[chosen].tolist()
        further = [list(range(self.first[n] + 1, self.first[n + 1])) for n in chosen]
        ends = np.cumsum([len(chosen), *map(len, further)])
        places = filled([list(range(a, b)) for a, b in itertools.pairwise(ends)])
        found = self.pairs.batch([*own, *(row for each in further for row in each)], device, pad)
        return found | {"supports": torch.from_numpy(places).to(device)}


def _right(one: Candidate) -> bool | None:
    return None if one.label is None else one.label > 0
