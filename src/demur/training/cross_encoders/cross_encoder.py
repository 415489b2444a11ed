"""Training of a cross-encoder on labelled pools: the right answers against the others of their pool."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demur import precision
from demur.data import binary
from demur.embedders.encoders.loading import check_device, content, device_named
from demur.errors import DataError, UsageError, require
from demur.rankers.base import Ranker
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder as CrossEncoderRanker
from demur.rankers.cross_encoders.cross_encoder import positions
from demur.rankers.cross_encoders.pairs import Batched, tokenised
from demur.training.base import Reporter, Trainer, silent
from demur.training.cross_encoders.worst_group import WORST, worst
from demur.training.dev_set import NEVER, has_both, judges, on_dev, right_or_wrong, sole
from demur.training.loop.fitting import Schedule, Step, fit, steps_of
from demur.types import IntArray, Pool

_log = logging.getLogger("demur")

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from demur.training.objectives.base import Objective
    from demur.training.objectives.pool_losses import Loss


@dataclass(frozen=True)
class CrossEncoder(Trainer):
    """A cross-encoder from any Hugging Face encoder: a softmax over each pool, or pair by pair (pointwise).

    From each pool all right answers are used and at most `negatives` others, drawn by the seed. A step is as
    many pools as `tokens` allow; the gradients of `accumulate` steps make one, if it is set.

    `early` names a measure, such as MAP, or worst, for that of the worst group by label and overlap: where
    there is a dev set, it is taken after each epoch and the best epoch's weights win; with `patience`,
    training ends after so many epochs without a gain. `smoothing` is label smoothing, and `focal` the
    exponent of the focal loss. `device` is the GPU if there is one, unless it says cpu or cuda. With `quick`
    attention has no dropout, which on a CPU saves a tenth of the time, and more where texts are long. A
    checkpoint is written every `checkpoint` minutes (0: every three). With ``head=first`` a new head scores
    the last state of the first token itself, as in the SCAN paper, and not BERT's pooler output. Texts are
    padded to a multiple of `pad` tokens: with 8 a CPU meets fewer shapes, which with a large base takes less
    time.
    """

    name: ClassVar[str] = "cross-encoder"
    whole: ClassVar[bool] = False  # whether it depends on candidates that are not sampled too
    base: str = "minilm"
    loss: str = "listwise"
    learning_rate: float = 1e-4
    epochs: int = 1
    negatives: int = 3
    tokens: int = 3072
    max_length: int = 128
    freeze_words: bool = True
    precision: str = "auto"
    seed: int = 0
    accumulate: int = 0  # what comes from here on is off, so that it leaves older models as they are
    early: str = ""
    patience: int = 0
    smoothing: float = 0.0
    focal: float = 0.0
    device: str = ""
    quick: bool = False
    checkpoint: float = 0.0
    head: str = ""
    pad: int = 1

    def __post_init__(self) -> None:
        if self.loss not in ("listwise", "pointwise"):
            raise UsageError(f"loss={self.loss!r} is not known; use loss=listwise or loss=pointwise")
        precision.check(self.precision)
        if min(self.epochs, self.negatives, self.tokens) < 1 or self.max_length < 16:
            raise UsageError("epochs, negatives and tokens must be 1 or more, and max_length 16 or more")
        if not (0 <= self.smoothing < 1 and min(self.focal, self.accumulate, self.patience) >= 0):
            raise UsageError("smoothing is a share below 1; focal, accumulate and patience are 0 or more")
        if not 1 <= self.pad <= 64:
            raise UsageError(f"pad={self.pad} must be 1 to 64")
        if self.head not in ("", "first"):
            raise UsageError(f"head={self.head!r} is not known; use head=first, or leave it out")
        if self.checkpoint < 0:
            raise UsageError("checkpoint is the minutes between two of them, above 0; or 0 for three")
        if not self.learning_rate > 0:
            raise UsageError(f"learning_rate={self.learning_rate:g} must be above 0")
        check_device(self.device)
        if self.early not in (*NEVER, WORST):
            sole(self.early)

    @property
    def depends(self) -> str:
        """A hash of the base, if it is a folder, as others may be put there."""
        return content(Path(self.base)) if Path(self.base).is_dir() else ""

    @property
    def goes_on_from(self) -> tuple[type[Trainer], ...]:
        """All trainers of cross-encoders."""
        return (CrossEncoder,)

    def check(self, pools: Sequence[Pool], dev: Sequence[Pool] = ()) -> None:
        """Raise an error if nothing can be learnt, or early stopping has nothing to go by."""
        self._check_labels(pools)
        if self.early in NEVER or not dev:
            return
        if self.early == WORST and not any(0 < pool.positives < len(pool) for pool in binary(dev)):
            what = "early=worst has nothing to go by: no pool of dev has both a right and a wrong answer"
            raise DataError(what, fix="label more there, or leave out early")
        if not judges(dev):
            what = f"early={self.early} has nothing to go by: dev has no right answer"
            raise DataError(what, fix="label some there, or leave out early")

    def _check_labels(self, pools: Sequence[Pool]) -> None:
        """Raise an error if the pools teach nothing."""
        if not has_both(pools):
            right = sum(pool.positives > 0 for pool in pools)
            what = f"of {len(pools):,} pools {right:,} have right answers, and none has both kinds"
            raise UsageError(f"{what}, so nothing can be learnt; label some right and some wrong")

    def train(
        self,
        pools: Sequence[Pool],
        dev: Sequence[Pool] = (),
        *,
        start: Ranker | None = None,
        checkpoints: Path | None = None,
        report: Reporter = silent,
    ) -> CrossEncoderRanker:
        """The cross-encoder that these pools teach; those without right and wrong answers teach nothing."""
        torch = require("torch", extra="encoder")
        self.check(pools, dev)
        begun = self._begun(start)
        device = device_named(self.device or "auto")
        with torch.random.fork_rng():  # the caller's random numbers are left alone
            taught = self._taught(pools, begun if start else None, checkpoints, report)
            torch.manual_seed(self.seed)
            network, tokenizer = begun.fresh()
            if self.head:
                from demur.nets.transformers.cross_encoder import score_first

                score_first(network)
            network.to(device)
            if self.freeze_words:
                from demur.nets.transformers.cross_encoder import freeze_words

                freeze_words(network)
            pairs = self._tokens(begun, network, tokenizer, pools, taught)
            if pairs.cut:
                cut = f"{pairs.cut:,} of {len(pairs.lengths):,} pairs are cut at {self.max_length} tokens"
                _log.warning(f"{cut}, and learnt from as they are; set max_length to read more")
            objective = self._objective(pools, taught, network).to(device)
            judge = None
            if self.early not in NEVER and dev:
                looked_at = dataclasses.replace(begun, device=device).holding(network, tokenizer)
                judge = lambda: _measured(looked_at, dev, self.early)  # noqa: E731
            named = None
            if checkpoints is not None:
                checkpoints.mkdir(parents=True, exist_ok=True)
                key = self._key(
                    [*taught, *pools] if self.whole else taught,
                    begun if start else None,
                    dev if judge else (),
                )
                named = checkpoints / f"{key}.safetensors"
            self._fit(network, objective, pairs, taught, judge, named, report)
        return begun.holding(network.to(device_named(begun.device)), tokenizer)

    def _begun(self, start: Ranker | None) -> CrossEncoderRanker:
        """The ranker whose network learns."""
        if start is None:
            how = precision.of_made(self.precision)
            return CrossEncoderRanker(model=self.base, max_length=self.max_length, precision=how)
        if not isinstance(start, CrossEncoderRanker):
            raise UsageError(f"a cross-encoder cannot start from {start.spec}; start from another one")
        if start.max_length == self.max_length:
            return start
        return dataclasses.replace(start, max_length=self.max_length).holding(*start.fresh())

    def _tokens(
        self,
        begun: CrossEncoderRanker,
        network: torch.nn.Module,
        tokenizer: Any,
        pools: Sequence[Pool],
        taught: Sequence[Pool],
    ) -> Batched:
        """What the network reads of each candidate in `taught`, which stem from `pools`."""
        return tokenised(tokenizer, taught, min(self.max_length, positions(network)))

    def _taught(
        self,
        pools: Sequence[Pool],
        start: CrossEncoderRanker | None,
        checkpoints: Path | None,
        report: Reporter,
    ) -> list[Pool]:
        """The pools of an epoch, sampled."""
        return [sampled for pool in pools if (sampled := self._sampled(pool)) is not None]

    def _objective(
        self, pools: Sequence[Pool], taught: Sequence[Pool], network: torch.nn.Module
    ) -> Objective:
        """What is minimised."""
        from demur.training.objectives.base import Plain

        return Plain(self._loss())

    def _loss(self) -> Loss:
        from demur.training.objectives.pool_losses import Loss

        return Loss(self.loss == "pointwise", self.smoothing, self.focal)

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
        from demur.nets.transformers.cross_encoder import score
        from demur.nets.transformers.features import caught
        from demur.training.objectives.base import ScoredPairs

        sizes = [len(pool) for pool in taught]
        ends = np.cumsum([0, *sizes])
        right = np.array([bool(c.label and c.label > 0) for pool in taught for c in pool.candidates])
        device = str(next(network.parameters()).device)

        def loss_of(step: Step) -> tuple[torch.Tensor, int]:
            import torch

            chosen = [pair for pool in step for pair in range(ends[pool], ends[pool + 1])]
            scores = score(network, pairs.batch(chosen, device, self.pad))
            true, places = torch.from_numpy(right[chosen]).to(device), torch.tensor(chosen, device=device)
            features = held[0] if held else None
            return objective(
                ScoredPairs(scores, true, [sizes[pool] for pool in step], places, features)
            ), len(chosen)

        longest = np.array([pairs.lengths[a:b].max() for a, b in itertools.pairwise(ends)])
        orders = [list(self._steps(longest, sizes, epoch)) for epoch in range(self.epochs)]
        steps = [step for order in orders for step in order]
        over = np.cumsum([len(order) for order in orders]).tolist()
        kept: dict[str, Any] = {"minutes": self.checkpoint} if self.checkpoint else {}
        schedule = Schedule(
            self.learning_rate,
            precision=self.precision,
            device=device.partition(":")[0],
            accumulate=max(self.accumulate, 1),
            patience=self.patience,
            quick=self.quick,
            **kept,
        )
        more: dict[str, Any] = {"ends": over, "objective": objective, "judge": judge}
        with caught(network, objective.wants) as held:
            fit(network, steps, loss_of, schedule, checkpoint, report, **more)

    def _sampled(self, pool: Pool) -> Pool | None:
        """The pool with all right answers and some others; None if it has not both."""
        right = [c for c in pool.candidates if c.label is not None and c.label > 0]
        wrong = [c for c in pool.candidates if c.label is not None and c.label <= 0]
        if not right or not wrong:
            return None
        if len(wrong) > self.negatives:
            draws = np.random.default_rng([self.seed, *hashlib.sha256(pool.id.encode()).digest()[:8]])
            wrong = [wrong[n] for n in sorted(draws.choice(len(wrong), self.negatives, replace=False))]
        return Pool(pool.id, pool.question, (*right, *wrong), pool.extra)

    def _steps(self, longest: IntArray, sizes: Sequence[int], epoch: int) -> Iterator[list[int]]:
        """The pools of each step of an epoch: shuffled, then put together by length within stretches."""
        return steps_of(longest, sizes, self.tokens, self.seed, epoch)

    def _key(self, taught: Sequence[Pool], start: CrossEncoderRanker | None, dev: Sequence[Pool] = ()) -> str:
        """A hash of the settings, the start and what is learnt from: no checkpoint is taken for another's."""
        said = f"{self.known_by} {start.fingerprint if start else ''}"
        digest = hashlib.sha256(said.encode())
        for pool in (*taught, *dev):
            digest.update(repr((pool.question, [(c.text, c.label) for c in pool.candidates])).encode())
        return digest.hexdigest()[:16]


def _measured(ranker: Ranker, dev: Sequence[Pool], measure: str) -> float:
    if measure == WORST:
        return worst(right_or_wrong(dev), ranker.prepare(dev).score_pools(dev))
    return on_dev(ranker, dev, measure)
