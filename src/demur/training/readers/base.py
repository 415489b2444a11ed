"""Training of readers on questions whose passages have the answer, or have none."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from demur import precision
from demur.embedders.encoders.loading import check_device, device_named
from demur.errors import UsageError, require
from demur.rankers.base import Ranker
from demur.reading.published import answer_of, check_one_passage, golds
from demur.reading.readers.network import NetworkReader
from demur.training.base import Reporter, Trainer, silent
from demur.training.dev_set import NEVER
from demur.training.loop.fitting import Schedule, Step, fit, steps_of
from demur.training.readers.examples import Lesson, best_threshold, examples_of, margin_of, measured
from demur.training.readers.larger_reader import LargerReader
from demur.training.readers.mini_teacher import LABELS
from demur.types import Pool

if TYPE_CHECKING:
    import torch

    from demur.reading.readers.span_reader import SpanReader

ALWAYS = 1e6
"""The threshold of a reader that has never seen a question without an answer, and so always gives one."""


class ReaderTrainer(Trainer):
    """What trainers of readers share: the cross-entropies of the start and of the end are added.

    Each question must have one passage, and its answers in ``extra``, with their texts and starts, as SQuAD
    has it; the first counts. A window without the answer is to say that there is none.
    """

    reads: ClassVar[bool] = True
    learning_rate: float
    epochs: int
    tokens: int
    max_length: int
    stride: int
    precision: str
    seed: int
    accumulate: int
    early: str
    null: str
    patience: int
    device: str
    until: int
    quick: bool = False
    together: bool = False
    sure: float = 0.0
    reader: str = ""

    def _checked(self) -> None:
        precision.check(self.precision)
        if min(self.epochs, self.tokens) < 1 or min(self.accumulate, self.patience) < 0:
            raise UsageError(
                "epochs and tokens must be 1 or more; accumulate and patience must not be below 0"
            )
        if not 0 <= self.until <= self.epochs:
            raise UsageError(f"until={self.until} must be from 1 to epochs={self.epochs}, or 0 for all")
        for name, measure in {"early": self.early, "null": self.null}.items():
            if measure not in (*NEVER, "EM", "F1"):
                raise UsageError(f"{name}={measure!r} is not known; use {name}=F1 or EM, or leave it out")
        check_device(self.device)

    def sees(self, pool: Pool) -> list[Any]:
        """What of a pool the result depends on: the answers too."""
        margin = [pool.extra.get("align_margin")] if self.sure else []
        return [*super().sees(pool), pool.extra.get("answers"), *margin]

    def check(self, pools: Sequence[Pool], dev: Sequence[Pool] = ()) -> None:
        """Raise an error if a question has not one passage and its answers, or there are no questions."""
        if not pools:
            raise UsageError("there are no questions, so nothing can be learnt; name data that has some")
        for pool in pools:
            answer_of(pool)
        if self.sure and all(margin is None for margin in [margin_of(pool) for pool in pools]):
            what = (
                f"no question without an answer has an align_margin, so sure={self.sure:g} would do nothing"
            )
            raise UsageError(f"{what}; leave it out")
        for pool in dev:  # it tells how good the reader is in the end, whether or not it says when to stop
            golds(pool)
            check_one_passage(pool)

    @property
    def goes_on_from(self) -> tuple[type[Trainer], ...]:
        """Those of its own kind."""
        return (type(self),)

    @abstractmethod
    def begun(self, start: Ranker | None, pools: Sequence[Pool]) -> NetworkReader:
        """The reader whose network learns: `start`, or a new one made for these pools."""

    def freeze(self, network: torch.nn.Module) -> None:
        """Let parts of the network be as they are."""
        return

    def train(
        self,
        pools: Sequence[Pool],
        dev: Sequence[Pool] = (),
        *,
        start: Ranker | None = None,
        checkpoints: Path | None = None,
        report: Reporter = silent,
    ) -> NetworkReader:
        """The reader that these pools teach."""
        torch = require("torch", extra="encoder")
        self.check(pools, dev)
        device = device_named(self.device or "auto")
        with torch.random.fork_rng():  # the caller's random numbers are left alone
            torch.manual_seed(self.seed)
            begun = self.begun(start, pools)
            before = 0.0 if begun.threshold == ALWAYS else begun.threshold
            threshold = ALWAYS if all(map(golds, pools)) else before
            begun = _with(begun, threshold=threshold, max_length=self.max_length, stride=self.stride)
            network, tokenizer = begun.fresh()
            network.to(device)
            self.freeze(network)
            lesson = Lesson.of(*examples_of(begun, network, tokenizer, pools), self.together)
            if self.sure:
                lesson = lesson.counting(pools, self.sure)
            larger = LargerReader(self.reader, device) if self.reader else None
            if larger:
                pairs = [(pool.question, pool.answers[0]) for pool in pools]
                read = larger.beside(lesson.windows, pairs, cast("SpanReader", begun))
                lesson = dataclasses.replace(lesson, read=read)
            judge = None
            if self.early not in NEVER and dev:
                looked_at = _with(begun, device=device).holding(network, tokenizer)
                judge = lambda: measured(looked_at, dev, self.early)  # noqa: E731
            named = None
            if checkpoints is not None:
                checkpoints.mkdir(parents=True, exist_ok=True)
                named = checkpoints / f"{self._key(pools, start, dev if judge else ())}.safetensors"
            self._fit(begun, network, lesson, larger, judge, named, report)
        taught = begun.holding(network.to(device_named(begun.device)), tokenizer)
        if self.null in NEVER or threshold == ALWAYS or all(map(golds, dev)):
            return taught
        return _with(taught, threshold=best_threshold(taught, dev, self.null))

    def _fit(
        self,
        begun: NetworkReader,
        network: torch.nn.Module,
        lesson: Lesson,
        larger: LargerReader | None,
        judge: Callable[[], float] | None,
        checkpoint: Path | None,
        report: Reporter,
    ) -> None:
        import torch

        from demur.training.objectives import reading

        device, units = next(network.parameters()).device, lesson.units

        def loss_of(step: Step) -> tuple[torch.Tensor, int]:
            places = [place for unit in step for place in units[unit]]
            starts, ends, _ = begun.forward(network, [lesson.windows[place] for place in places])
            wanted = torch.from_numpy(lesson.targets[places]).to(device)
            if self.together:
                each = reading.of_passages(starts, ends, wanted, [len(units[unit]) for unit in step])
            else:
                each = reading.of_windows(starts, ends, wanted)
            if larger:
                there = starts > -torch.inf
                told = larger.told([lesson.read[place] for place in places], there)
                by_reader = reading.differing(torch.stack([starts, ends], 1), there, told, wanted).sum(1)
                each = torch.lerp(each, by_reader, 1 - LABELS)
            if lesson.counts is not None:
                each = each * torch.from_numpy(lesson.counts[list(step)]).to(each)
            return each.mean(), len(places)

        lengths = np.array([max(lesson.windows[place].length for place in unit) for unit in units])
        sizes = [len(unit) for unit in units]
        orders = [
            list(steps_of(lengths, sizes, self.tokens, self.seed, epoch)) for epoch in range(self.epochs)
        ]
        schedule = Schedule(
            self.learning_rate,
            precision=self.precision,
            device=device.type,
            accumulate=max(self.accumulate, 1),
            patience=self.patience,
            quick=self.quick,
            until=self.until,
        )
        over = np.cumsum([len(order) for order in orders]).tolist()
        steps = [step for order in orders for step in order]
        fit(network, steps, loss_of, schedule, checkpoint, report, ends=over, judge=judge)

    def _key(self, pools: Sequence[Pool], start: Ranker | None, dev: Sequence[Pool]) -> str:
        """A hash of the settings, the start and what is learnt from: no checkpoint is taken for another's."""
        said = [self.known_by, self.depends, start.fingerprint if start else ""]
        digest = hashlib.sha256(json.dumps(said).encode())
        for part in (pools, dev):
            for pool in part:
                digest.update(json.dumps(self.sees(pool)).encode())
            digest.update(b"\n")
        return digest.hexdigest()[:16]


def _with(reader: NetworkReader, **settings: Any) -> NetworkReader:
    """The reader with other settings and the same weights."""
    held = reader._held
    made: Any = dataclasses.replace(reader, **settings)
    object.__setattr__(made, "_held", held)  # the field that no caller may set
    return made  # type: ignore[no-any-return]
