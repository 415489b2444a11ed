"""Training of a ranker that reads answers beside one another."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demur import precision
from demur.errors import UsageError
from demur.rankers.base import Ranker
from demur.rankers.cross_encoders.beside import FIRST, Row
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder as CrossEncoderRanker
from demur.rankers.cross_encoders.joint import Joint as JointRanker
from demur.rankers.cross_encoders.pairs import Pairs
from demur.rankers.ensembles.base import resolve_member
from demur.training.base import Reporter
from demur.training.cross_encoders.cross_encoder import CrossEncoder
from demur.types import Candidate, Pool

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Joint(CrossEncoder):
    """A cross-encoder that sees `k` other answers of the pool, those that `first` ranks highest.

    With ``mode=others`` all at once, in an order drawn by the seed while it learns. With ``pairwise`` it sees
    a right and a wrong answer at a time, and learns which of the two is better. It may start from an ordinary
    cross-encoder, and then scores as well at first.
    """

    name: ClassVar[str] = "joint"
    whole: ClassVar[bool] = True
    first: str = FIRST
    k: int = 3
    mode: str = "others"
    block: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        JointRanker(
            model="unread", first="length", k=self.k, mode=self.mode, block=self.block
        )  # or it says why

    @property
    def depends(self) -> str:
        """A hash of the first ranker, and of the base if it is a folder."""
        return super().depends + resolve_member(self.first).fingerprint

    def _begun(self, start: Ranker | None) -> CrossEncoderRanker:
        if start is not None and not isinstance(start, CrossEncoderRanker):
            raise UsageError(f"a joint ranker cannot start from {start.spec}; start from a cross-encoder")
        ranker = JointRanker(
            model=self.base,
            max_length=self.max_length,
            precision=precision.of_made(self.precision),
            first=self.first,
            k=self.k,
            mode=self.mode,
            block=self.block,
        )
        if start is None:
            return ranker
        # An ordinary cross-encoder knows two kinds of texts; `fresh` adds the others.
        return ranker.holding(*start.fresh())

    def _taught(
        self,
        pools: Sequence[Pool],
        start: CrossEncoderRanker | None,
        checkpoints: Path | None,
        report: Reporter,
    ) -> list[Pool]:
        taught = super()._taught(pools, start, checkpoints, report)
        if self.mode == "others":
            return taught
        return [
            dataclasses.replace(pool, id=f"{pool.id}: {a}, {b}", candidates=(one, other))
            for pool in taught
            for a, one in enumerate(pool.candidates)
            for b, other in enumerate(pool.candidates)
            if _right(one) and not _right(other)
        ]

    def _tokens(
        self,
        begun: CrossEncoderRanker,
        network: torch.nn.Module,
        tokenizer: Any,
        pools: Sequence[Pool],
        taught: Sequence[Pool],
    ) -> Pairs:
        assert isinstance(begun, JointRanker)  # `_begun` has made it
        if self.mode == "pairwise":
            rows: list[Row] = []
            for pool in taught:
                one, other = pool.answers
                rows += [(pool.question, one, (other,)), (pool.question, other, (one,))]
            return begun.tokens(network, tokenizer, rows)
        used = [pool for pool in pools if self._sampled(pool) is not None]  # of two files ids may be the same
        near = begun.prepare(pools).others(used)
        rows = []
        for number, (pool, all_of, of_pool) in enumerate(zip(taught, used, near, strict=True)):
            draws = np.random.default_rng([self.seed, number])
            places = {(each.id, each.text): place for place, each in enumerate(all_of.candidates)}
            for each in pool.candidates:
                others = of_pool[places[each.id, each.text]]
                mixed = [all_of.answers[others[n]] for n in draws.permutation(len(others)).tolist()]
                rows.append((pool.question, each.text, tuple(mixed)))
        return begun.tokens(network, tokenizer, rows)


def _right(one: Candidate) -> bool:
    return one.label is not None and one.label > 0
