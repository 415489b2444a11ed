"""A cross-encoder that reads each answer beside the best of the others: an answer seldom stands alone.

After joint answer sentence selection (Zhang et al. 2021, Di Liello et al. 2022).
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
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

MODES = ("others", "pairwise")
FIRST = "bm25(stem=english)"


@dataclass(frozen=True)
class Joint(CrossEncoder):
    """A trained network that reads question, answer, and the `k` others of the pool that `first` puts first.

    ``mode=others`` reads them all at once. ``pairwise`` reads one at a time, in both orders, and a score is
    the mean by which an answer is thought better than each of them.
    """

    name: ClassVar[str] = "joint"
    alone: ClassVar[bool] = False
    first: str = FIRST
    k: int = 3
    mode: str = "others"
    block: int = 64
    before: Ranker = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mode not in MODES:
            raise UsageError(f"mode={self.mode!r} is not known; use mode=others or mode=pairwise")
        if self.k < 1 or self.block < 8:
            raise UsageError("joint needs k of 1 or more, and blocks of 8 tokens or more")
        self._hold(resolve_member(self.first, self.folder))

    def _hold(self, first: Ranker) -> None:
        object.__setattr__(self, "before", first)  # the field that no caller may set

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

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool."""
        beside = self.others(pools)
        targets, others, ends = [], [], [0]
        for pool, of_pool in zip(pools, beside, strict=True):
            for place, near in enumerate(of_pool):
                for group in [near] if self.mode == "others" else [[each] for each in near] or [[]]:
                    targets.append((pool.question, pool.answers[place]))
                    others.append([pool.answers[each] for each in group])
                    if self.mode == "pairwise" and group:
                        targets.append((pool.question, pool.answers[group[0]]))
                        others.append([pool.answers[place]])
                ends.append(len(targets))
        scores = self._read(targets, others)
        if self.mode == "pairwise":
            sums = [_mean_gap(scores[a:b]) for a, b in itertools.pairwise(ends)]
            scores = np.array(sums, np.float64)
        parts = np.split(scores, np.cumsum([len(pool) for pool in pools])) if len(pools) else []
        return [np.asarray(part, np.float64) for part in parts[: len(pools)]]

    def others(self, pools: Sequence[Pool]) -> list[list[list[int]]]:
        """For each pool and candidate, the places of the best others: never itself, nor one with its text."""
        found = []
        for pool, scores in zip(pools, self.before.score_pools(pools), strict=True):
            order = np.argsort(-scores, kind="stable").tolist()
            texts = pool.answers
            # equal scores in an order that does not depend on that of the pool
            order.sort(key=lambda n, s=scores, t=texts: (-s[n], t[n]))
            found.append([_best(order, texts, place, self.k) for place in range(len(pool))])
        return found

    def _read(self, targets: Sequence[tuple[str, str]], others: Sequence[Sequence[str]]) -> FloatArray:
        if not targets:
            return np.empty(0)
        rows = [
            (question, answer, tuple(near)) for (question, answer), near in zip(targets, others, strict=True)
        ]
        places = {row: n for n, row in enumerate(dict.fromkeys(rows))}
        network, tokenizer = self._network()
        if kinds_of(network) < self.kinds:
            what = f"its network tells {kinds_of(network)} kinds of texts apart, and joint needs {self.kinds}"
            raise UsageError(f"{what}; train one with demur train --trainer joint")
        scores = self.read(network, self.tokens(network, tokenizer, list(places)))
        return scores[[places[row] for row in rows]]

    def tokens(
        self, network: torch.nn.Module, tokenizer: Any, rows: Sequence[tuple[str, str, tuple[str, ...]]]
    ) -> Pairs:
        """Question, answer and others as one row of tokens each; what each text is, is said by its kind."""
        pairs = tokenised(
            tokenizer, [Pool.of(q, [a]) for q, a, _ in rows], min(self.max_length, positions(network))
        )
        return joined(pairs, tokenizer, [near for _, _, near in rows], self.block, positions(network))

    def fresh(self) -> tuple[torch.nn.Module, Any]:
        """A copy of the network, to be trained, that knows enough kinds of texts; and its tokeniser."""
        network, tokenizer = super().fresh()
        from demur.nets.transformers.cross_encoder import with_kinds

        with_kinds(network, self.kinds)
        return network, tokenizer

    @property
    def kinds(self) -> int:
        """How many kinds of texts there are: question, answer, and each of the others."""
        return 2 + (self.k if self.mode == "others" else 1)

    def save_into(self, folder: Path) -> str:
        """The spec of the ranker whose network, tokeniser and first ranker now lie in the folder."""
        from demur.rankers.opening import save

        super().save_into(folder)
        first = self.first
        if isinstance(self.before, HasFiles):
            first = "first"
            save(self.before, folder / first, {})
        kept = ("max_length", "precision", "device", "k", "mode", "block")
        return str(Spec(self.name, {name: getattr(self, name) for name in kept} | {"first": first}))

    @property
    def fingerprint(self) -> str:
        """A hash of the settings, the weights and the first ranker."""
        said = f"{super().fingerprint} {self.k} {self.mode} {self.block} {self.before.fingerprint}"
        return hashlib.sha256(said.encode()).hexdigest()[:16]


def kinds_of(network: torch.nn.Module) -> int:
    """How many kinds of texts a network tells apart."""
    config: Any = getattr(network, "config", None)
    return int(getattr(config, "type_vocab_size", 0))


def _best(order: Sequence[int], texts: Sequence[str], place: int, k: int) -> list[int]:
    found: dict[str, int] = {}
    for other in order:
        if len(found) == k:
            break
        if other != place and texts[other] != texts[place]:
            found.setdefault(texts[other], other)
    return list(found.values())


def _mean_gap(scores: FloatArray) -> float:
    """Of scores that stand in twos, the mean of the first less the second; of one alone, that one."""
    return float(scores[0]) if len(scores) == 1 else float((scores[::2] - scores[1::2]).mean())
