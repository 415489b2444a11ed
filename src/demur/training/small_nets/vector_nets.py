"""Trainers of small nets over vectors of texts, after the scarce-annotations paper (Vallee et al. 2019).

They learn in seconds to minutes on a processor, from as few as a handful of labelled questions.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from demur.embedders import Embedder, embedder
from demur.embedders.caching import cached_on_disk
from demur.errors import DataError, UsageError, require
from demur.rankers.base import Ranker
from demur.rankers.vectors import network
from demur.rankers.vectors.net_weights import NetWeights
from demur.training.base import Reporter, Trainer, silent
from demur.training.dev_set import has_both, right_or_wrong
from demur.types import Pool

if TYPE_CHECKING:
    from demur.nets.small.base import SmallNet
    from demur.training.small_nets.dev_measures import DevMeasure
    from demur.training.small_nets.examples import Examples, Labelled

_log = logging.getLogger("demur")

CHOICES = {
    "loss": ("pointwise", "pairwise"),
    "early": ("loss", "MAP", "none"),
    "init": ("auto", "glorot", "identity"),
}


@dataclass(frozen=True)
class Small(Trainer):
    """The settings that both trainers share. Most are the paper's; `features` and some others are our own.

    `loss` is pointwise (cross-entropy of each pair) or pairwise (a `margin` between each right and each wrong
    answer of a question; at most `negatives` wrong ones for each right one, 0 for all). `early` is the
    measure of early stopping on the dev set: loss, MAP, or none; it waits `patience` epochs for a gain of
    `min_delta`, and the best weights are kept. `balance` gives right and wrong answers the same weight.

    With ``init=glorot`` a net is initialised at random, as in the paper, and a projection loses some
    information of the vectors; with ``identity`` it starts at their cosine. ``auto`` is identity for siamese
    nets that learn pairwise, and glorot for all others, as a cosine is not a probability of being right.
    """

    ranker: ClassVar[type[network.Network]]
    features: str = "encoder"
    loss: str = "pointwise"
    margin: float = 0.05
    epochs: int = 50
    batch: int = 32
    dropout: float = 0.3
    learning_rate: float = 1e-3
    early: str = "loss"
    patience: int = 5
    min_delta: float = 1e-4
    negatives: int = 0
    balance: bool = False
    init: str = "auto"
    seed: int = 0

    @property
    def depends(self) -> str:
        """A hash of what makes the features."""
        return embedder(self.features).fingerprint

    def __post_init__(self) -> None:
        for key, known in CHOICES.items():
            if (value := getattr(self, key)) not in known:
                raise UsageError(f"{key}={value!r} is not known; use {' or '.join(known)}")
        if min(self.epochs, self.batch, self.patience) < 1 or min(self.negatives, self.seed) < 0:
            raise UsageError("epochs, batch and patience must be 1 or more, negatives and seed 0 or more")
        if self.loss == "pairwise" and self.balance:
            raise UsageError("balance is of single pairs; set loss=pointwise, or leave it out")
        if not (0 <= self.dropout < 1 and self.learning_rate > 0 and 0 <= self.margin <= 1):
            raise UsageError("dropout must be a share below 1, learning_rate above 0, and margin from 0 to 1")

    def check(self, pools: Sequence[Pool], dev: Sequence[Pool] = ()) -> None:
        """Raise an error if nothing can be learnt from these pools."""
        judged = [label for pool in pools for label in pool.labels if label is not None]
        right = sum(label > 0 for label in judged)
        if not 0 < right < len(judged):
            what = f"{right:,} of {len(judged):,} judged answers are right"
            raise DataError(f"{what}, and nothing can be learnt from that", fix="label right and wrong ones")
        if self.loss == "pairwise" and not has_both(pools):
            raise DataError("no question has both a right and a wrong answer", fix="use loss=pointwise")

    @property
    def goes_on_from(self) -> tuple[type[Trainer], ...]:
        """Those of its own kind."""
        return (type(self),)

    def train(
        self,
        pools: Sequence[Pool],
        dev: Sequence[Pool] = (),
        *,
        start: Ranker | None = None,
        checkpoints: Path | None = None,
        report: Reporter = silent,
    ) -> network.Network:
        """The ranker that the judged pairs of these pools teach; see `Small` for the settings."""
        torch = require("torch", extra="encoder")
        self.check(pools, dev)
        from demur.training.small_nets.examples import Labelled
        from demur.training.small_nets.loop import Schedule, train_net

        features = embedder(self.features)
        if start is not None and not isinstance(start, self.ranker):
            raise UsageError(
                f"a {self.name} net cannot start from {start.spec}; start from another {self.name}"
            )
        if isinstance(start, network.Network) and start.learnt.embedder.fingerprint != features.fingerprint:
            what = f"the net to start from has learnt on {start.learnt.features}, not on {self.features}"
            raise UsageError(f"{what}; name the same features")
        data = Labelled.of(pools, features)
        examples, dev_measure = self._examples(data), self._dev_measure(dev, features)
        with torch.random.fork_rng(devices=[]):  # the caller's random numbers are left alone
            torch.manual_seed(self.seed)
            net = self._net(data.vectors.shape[1])
        if self.like_cosine:
            net.like_cosine(float(data.vectors.square().mean().sqrt()))
        if isinstance(start, network.Network):
            net.load_state_dict(
                {name: torch.from_numpy(w.copy()) for name, w in start.learnt.weights.items()}
            )
        usable = start is not None or self.like_cosine
        schedule = Schedule(
            self.epochs, self.batch, self.learning_rate, self.seed, self.patience, self.min_delta, usable
        )
        named = None
        if checkpoints is not None:
            checkpoints.mkdir(parents=True, exist_ok=True)
            named = checkpoints / f"{self._key(data, dev, start)}.safetensors"
        train_net(net, examples, dev_measure, schedule, named, report)
        weights = {name: tensor.numpy().copy() for name, tensor in net.state_dict().items()}
        return self.ranker.of(NetWeights(self.features, weights, cached_on_disk(features)))

    @property
    def like_cosine(self) -> bool:
        """Whether the net begins at the cosine of the vectors."""
        few = self.name == "siamese" and self.loss == "pairwise"
        return self.init == "identity" or (self.init == "auto" and few)

    def _net(self, width: int) -> SmallNet:
        raise NotImplementedError

    def _examples(self, data: Labelled) -> Examples:
        from demur.training.small_nets.examples import Pairs, Triplets

        if self.loss == "pointwise":
            if self.negatives:
                _log.warning("negatives does nothing here: with loss=pointwise all answers are learnt from")
            if self.margin != type(self).margin:
                _log.warning("margin does nothing here: with loss=pointwise each answer is learnt by itself")
            return Pairs(data, self.balance)
        return Triplets(data, self.margin, self.negatives, self.seed)

    def _dev_measure(self, dev: Sequence[Pool], features: Embedder) -> DevMeasure | None:
        if self.early == "none" or not len(dev):
            return None
        from demur.training.small_nets import dev_measures
        from demur.training.small_nets.examples import Labelled, triplets

        data = Labelled.of(right_or_wrong(dev), features)
        by_triplets = self.early == "loss" and self.loss == "pairwise"
        if not (len(triplets(data)[0]) if by_triplets else data.labels.any()):
            lacking = "right and wrong" if by_triplets else "right"
            _log.warning(f"no early stopping: no question of the dev set has {lacking} answers")
            return None
        if self.early == "MAP":
            return dev_measures.Ranking(data)
        if self.loss == "pointwise":
            return dev_measures.Entropy(data)
        return dev_measures.Margins(data, self.margin, self.batch)

    def _key(self, data: Labelled, dev: Sequence[Pool], start: Ranker | None) -> str:
        """A hash of all that is learnt from, so that a checkpoint is never taken for another's."""
        digest = hashlib.sha256(f"{self.spec} {start.fingerprint if start else ''}".encode())
        for array in (data.vectors.numpy(), data.questions, data.answers, data.labels, data.pools):
            digest.update(array.tobytes())
        digest.update(repr([(pool.question, pool.answers, pool.labels) for pool in dev]).encode())
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Siamese(Small):
    """A trainer of siamese nets: one projection of both texts, compared by cosine; good with few labels."""

    name: ClassVar[str] = "siamese"
    ranker: ClassVar[type[network.Network]] = network.Siamese

    def _net(self, width: int) -> SmallNet:
        from demur.nets.small.siamese import Siamese as Net

        return Net(width, self.dropout)


@dataclass(frozen=True)
class Concat(Small):
    """A trainer of concat nets: they learn how two texts are similar; good with many labels."""

    name: ClassVar[str] = "concat"
    ranker: ClassVar[type[network.Network]] = network.Concat

    def _net(self, width: int) -> SmallNet:
        from demur.nets.small.concat import Concat as Net

        return Net(width, self.dropout)
