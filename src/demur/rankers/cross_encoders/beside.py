"""What rankers share that read an answer beside the best of the others of its pool."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from demur.errors import UsageError
from demur.rankers.base import HasFiles, Ranker
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder, positions
from demur.rankers.cross_encoders.pairs import Pairs, joined, tokenised
from demur.rankers.ensembles.base import resolve_member
from demur.specs import Spec
from demur.types import FloatArray, Pool

if TYPE_CHECKING:
    import torch

FIRST = "bm25(stem=english)"

Row = tuple[str, str, tuple[str, ...]]
"""A question, an answer, and the others that are read beside it."""


class Beside(CrossEncoder):
    """A part of a frozen dataclass: a cross-encoder that reads others of the pool beside an answer."""

    alone: ClassVar[bool] = False
    shaped: ClassVar[tuple[str, ...]]
    """The settings that say how the others are read."""
    first: str
    k: int
    block: int
    before: Ranker
    """The first ranker, which no caller may set."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k < 1 or self.block < 8:
            raise UsageError(f"{self.name} needs k of 1 or more, and blocks of 8 tokens or more")
        self._hold(resolve_member(self.first, self.folder))

    def _hold(self, first: Ranker) -> None:
        object.__setattr__(self, "before", first)

    def holding(self, network: torch.nn.Module, tokenizer: Any) -> Self:
        """The same ranker with this network, which lies in no folder yet."""
        trained = super().holding(network, tokenizer)
        trained._hold(self.before)
        return trained

    @property
    def needs_preparing(self) -> bool:
        """Whether the first ranker must see the pools."""
        return self.before.needs_preparing

    def prepare(self, pools: Iterable[Pool]) -> Self:
        """The ranker with its first one prepared."""
        if not self.needs_preparing:
            return self
        ready = dataclasses.replace(self)
        object.__setattr__(ready, "_held", self._held)
        ready._hold(self.before.prepare(pools))
        return ready

    def others(self, pools: Sequence[Pool]) -> list[list[list[int]]]:
        """For each pool and candidate, the places of the best others: never itself, nor one with its text."""
        found = []
        for pool, scores in zip(pools, self.before.score_pools(pools), strict=True):
            order = ordered(scores, pool.answers)
            found.append([best(order, pool.answers, place, self.k) for place in range(len(pool))])
        return found

    def able(self) -> tuple[torch.nn.Module, Any]:
        """The network and its tokeniser; an error if it knows kinds of texts, but too few."""
        network, tokenizer = self._network()
        if 0 < kinds_of(network) < self.kinds:
            what = f"its network tells {kinds_of(network)} kinds of texts apart"
            fix = f"train one with demur train --trainer {self.name}"
            raise UsageError(f"{what}, and {self.name} needs {self.kinds}; {fix}")
        return network, tokenizer

    def tokens(self, network: torch.nn.Module, tokenizer: Any, rows: Sequence[Row]) -> Pairs:
        """Question, answer and others as one row of tokens each, and the kind of each text.

        A network that knows no kinds is not told them: texts have their order, and tokens that part them.
        """
        pairs = tokenised(
            tokenizer, [Pool.of(q, [a]) for q, a, _ in rows], min(self.max_length, positions(network))
        )
        others = [near for _, _, near in rows]
        found = joined(pairs, tokenizer, others, self.block, positions(network))
        return dataclasses.replace(found, typed=kinds_of(network) > 0)

    def fresh(self) -> tuple[torch.nn.Module, Any]:
        """A copy of the network, to be trained, that knows enough kinds of texts; and its tokeniser."""
        network, tokenizer = super().fresh()
        from demur.nets.transformers.cross_encoder import with_kinds

        with_kinds(network, self.kinds)
        return network, tokenizer

    @property
    def kinds(self) -> int:
        """How many kinds of texts there are: question, answer, and those read beside it at once."""
        return 3

    def save_into(self, folder: Path) -> str:
        """The spec of the ranker whose network, tokeniser and first ranker now lie in the folder."""
        from demur.rankers.opening import save

        super().save_into(folder)
        first = self.first
        if isinstance(self.before, HasFiles):
            first = "first"
            save(self.before, folder / first, {})
        kept = {name: getattr(self, name) for name in (*self.kept, *self.shaped)}
        return str(Spec(self.name, kept | {"first": first}))

    @property
    def fingerprint(self) -> str:
        """A hash of the settings, the weights and the first ranker."""
        shape = " ".join(str(getattr(self, name)) for name in self.shaped)
        said = f"{super().fingerprint} {shape} {self.before.fingerprint}"
        return hashlib.sha256(said.encode()).hexdigest()[:16]


def kinds_of(network: torch.nn.Module) -> int:
    """How many kinds of texts a network knows; none of MPNet's and DistilBERT's kind."""
    config: Any = getattr(network, "config", None)
    return int(getattr(config, "type_vocab_size", 0))


def ordered(scores: FloatArray, texts: Sequence[str]) -> list[int]:
    """The places by falling score; those of equal scores in an order that does not depend on the pool's."""
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    return sorted(order, key=lambda n: (-scores[n], texts[n]))


def best(order: Sequence[int], texts: Sequence[str], place: int, k: int) -> list[int]:
    """The first `k` places of an order whose texts differ from one another's and from that of `place`."""
    found: dict[str, int] = {}
    for other in order:
        if len(found) == k:
            break
        if other != place and texts[other] != texts[place]:
            found.setdefault(texts[other], other)
    return list(found.values())
