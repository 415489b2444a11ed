"""Trainers of nets that match words: MatchPyramid, the Deep Matching Net, and multihop attention."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from demur import registry
from demur.embedders import embedder
from demur.embedders.word_vectors.embedder import located
from demur.embedders.word_vectors.tables import Table, table
from demur.errors import UnknownName, UsageError, require
from demur.rankers.base import Ranker
from demur.rankers.match_nets import match_nets as rankers
from demur.rankers.match_nets.match_nets import Match, Trained
from demur.rankers.match_nets.word_numbers import Context, Lexicon, Words
from demur.specs import parse
from demur.training.base import Reporter, Trainer, silent
from demur.training.dev_set import NEVER, checkpoint_name, sole
from demur.training.loop.fitting import Schedule, Step, fit
from demur.training.small_nets.dev_measures import dev_measure
from demur.training.small_nets.negatives import Negatives, check_labels
from demur.types import Pool

if TYPE_CHECKING:
    from torch import Tensor

    from demur.nets.matching.match_net import Worded
    from demur.training.objectives.pairwise import Pairwise

PRESETS = ("fixed", "paper", "code")
LEAST = 5  # words: from fewer a deep matching net has nothing left after its windows of three
COUNTS = (
    *("filters", "rows", "columns", "hidden", "hops", "bins", "windows", "window", "keep", "near"),
    *("blocks", "layers", "code", "small", "dense", "clusters", "weight"),
)
LEAST_OF = {"code": 2, "clusters": 0, "weight": 0}  # what a lone number says is taken away with its mean


@dataclass(frozen=True)
class MatchTrainer(Trainer):
    """What trainers of matching nets share; they learn by pairs of a right and a wrong answer, with a hinge.

    `vectors` names a file of word vectors, or ``glove``; with `tuned` they learn along. Words without one
    share `buckets` vectors that were drawn. An encoder, such as ``vectors=encoder``, gives each word a vector
    in its text. Of a question `question_words` are read, of an answer `answer_words`.

    In each epoch a right answer is compared with `negatives` wrong ones of its pool, or of others if it has
    too few. Its score should be higher by `margin` (0 is the net's default). With a dev set, the epoch that
    is best by the measure `early` wins (``none``: the last), and training ends after `patience` epochs
    without a gain.
    """

    kind: ClassVar[type[Match]]
    vectors: str = "glove"
    negatives: int = 4
    margin: float = 0.0
    epochs: int = 15
    batch: int = 32
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    early: str = "MAP"
    patience: int = 4
    question_words: int = 40
    answer_words: int = 60
    buckets: int = 1000
    tuned: bool = False
    preset: str = "fixed"
    seed: int = 0

    def __post_init__(self) -> None:
        counts = self.negatives, self.epochs, self.batch, self.question_words, self.answer_words, self.buckets
        if min(counts) < 1 or min(self.margin, self.weight_decay, self.patience, self.seed) < 0:
            what = "negatives, epochs, batch, question_words, answer_words and buckets must be 1 or more"
            raise UsageError(f"{what}; margin, weight_decay, patience and seed 0 or more")
        if not self.learning_rate > 0:
            raise UsageError(f"learning_rate={self.learning_rate} must be above 0")
        if self.preset not in PRESETS:
            raise UnknownName("preset", self.preset, PRESETS)
        if self.tuned and self._contextual:
            raise UsageError("vectors of an encoder are not tuned; leave out tuned, or name a file")
        if self.early not in NEVER:
            sole(self.early)
        self._check_net()

    def _check_net(self) -> None:
        """Raise an error if no net can be made of the settings that are the net's own."""
        sizes = self.sizes()
        for name in COUNTS:
            least = LEAST_OF.get(name, 1)
            if sizes.get(name, least) < least:
                raise UsageError(f"{name}={sizes[name]} must be {least} or more")
        if not 0 <= sizes.get("drop", 0) < 1:
            raise UsageError(f"dropout={sizes['drop']:g} must be a share below 1")

    @property
    def depends(self) -> str:
        """A hash of what gives words their vectors, wherever it lies."""
        return embedder(self.vectors).fingerprint if self._contextual else self._table.fingerprint

    @property
    def goes_on_from(self) -> tuple[type[Trainer], ...]:
        """Those of its own kind."""
        return (type(self),)

    def check(self, pools: Sequence[Pool], dev: Sequence[Pool] = ()) -> None:
        """Raise an error if nothing can be learnt from these pools."""
        check_labels(pools)

    def train(
        self,
        pools: Sequence[Pool],
        dev: Sequence[Pool] = (),
        *,
        start: Ranker | None = None,
        checkpoints: Path | None = None,
        report: Reporter = silent,
    ) -> Match:
        """The ranker that these pools teach; those without a right answer teach nothing."""
        torch = require("torch", extra="encoder")
        if start is not None and not isinstance(start, self.kind):
            raise UsageError(f"{self.name} cannot start from {start.spec}; start from another {self.name}")
        negatives = Negatives.of(pools)
        with torch.random.fork_rng(devices=[]):  # the caller's random numbers are left alone
            torch.manual_seed(self.seed)
            has = self._begun(pools) if start is None else start.fresh()
            named = None
            if checkpoints is not None:
                checkpoints.mkdir(parents=True, exist_ok=True)
                named = checkpoints / f"{self._key(pools, dev, start)}.safetensors"
            self._fit(has, negatives, dev, named, report)
        return self.kind.of(has)

    def sizes(self) -> dict[str, int | float]:
        """The settings of the net, but for the width of its words: those that only its trainers have."""
        own = [each.name for each in fields(self) if each.name not in MatchTrainer.__dataclass_fields__]
        return {"drop" if name == "dropout" else name: getattr(self, name) for name in own}

    def _begun(self, pools: Sequence[Pool]) -> Trained:
        import torch

        from demur.nets.matching.match_net import Worded

        words: Words = Context(self.vectors)
        if not self._contextual:
            texts = (text for pool in pools for text in (pool.question, *pool.answers))
            words = Lexicon.of(self._table, texts, self.buckets)
        net = self.kind.net(wide=words.width, **self.sizes())
        network = Worded(net, torch.from_numpy(words.matrix.copy()), self.tuned)
        return Trained(network, words, self.question_words, self.answer_words)

    def _fit(
        self, has: Trained, negatives: Negatives, dev: Sequence[Pool], named: Path | None, report: Reporter
    ) -> None:
        from demur.rankers.match_nets import match_pairs

        read, words = negatives.read(has.words), (has.question_words, has.answer_words)
        objective, net = self._objective(has), has.network.net
        draws = np.random.default_rng(self.seed)
        lengths = np.diff(read.first)
        sizes = self.negatives, self.batch
        epochs = [negatives.triplets(lengths, *sizes, draws) for _ in range(self.epochs)]
        examples, wrong = (np.concatenate(each) for each in zip(*epochs, strict=True))

        def loss_of(step: Step) -> tuple[Tensor, int]:
            chosen = np.asarray(step)
            questions, right = negatives.questions[examples[chosen]], negatives.right[examples[chosen]]
            asked, told = np.tile(questions, 2), np.concatenate([right, wrong[chosen]])
            order = np.argsort(lengths[told], kind="stable")  # short and long ones apart: less is filled up
            batches = np.array_split(order, 2)

            def look(network: Worded) -> Tensor:
                return match_pairs.scores(network, read, asked, told, words, batches)

            net.aside = []
            loss = objective.of(has.network, look)
            loss, net.aside = sum(net.aside, loss), None
            return loss, 2 * len(chosen)

        steps: list[Step] = []
        ends = []
        for first, end in itertools.pairwise(np.cumsum([0, *(len(each) for each, _ in epochs)]).tolist()):
            steps += [range(at, min(at + self.batch, end)) for at in range(first, end, self.batch)]
            ends.append(len(steps))
        judge = dev_measure(self.kind, has, dev, self.early)
        schedule = Schedule(
            self.learning_rate, 0.02, self.weight_decay, precision="fp32", patience=self.patience
        )
        fit(has.network, steps, loss_of, schedule, named, report, ends=ends, objective=objective, judge=judge)

    def _objective(self, has: Trained) -> Pairwise:
        """What is made small in training."""
        from demur.training.objectives.pairwise import Pairwise

        return Pairwise(self.margin or has.network.net.margin)

    @property
    def _contextual(self) -> bool:
        """Whether an encoder gives words their vectors."""
        return parse_name(self.vectors) in registry.names("embedder")

    @property
    def _table(self) -> Table:
        return table(located(self.vectors))

    def _key(self, pools: Sequence[Pool], dev: Sequence[Pool], start: Ranker | None) -> str:
        """A hash of all that is learnt from, so that no checkpoint is taken for another's."""
        begun = start.fingerprint if start else ""
        return checkpoint_name(f"{self.known_by} {self.depends} {begun}", (*pools, *dev))


def parse_name(spec: str) -> str:
    """The name in a spec; empty for what is none, such as a path."""
    try:
        return parse(spec).name
    except UsageError:
        return ""


@dataclass(frozen=True)
class MatchPyramid(MatchTrainer):
    """A trainer of MatchPyramid: small, with `rows` windows of a question and `columns` of an answer.

    All presets are alike. The other settings are those that all trainers of matching nets share.
    """

    name: ClassVar[str] = "match-pyramid"
    kind: ClassVar[type[Match]] = rankers.MatchPyramid
    filters: int = 8
    rows: int = 3
    columns: int = 10
    hidden: int = 20


@dataclass(frozen=True)
class DeepMatching(MatchTrainer):
    """A trainer of the Deep Matching Net, with a GRU of `hidden` units each way.

    With ``preset=code`` questions and answers have a GRU each; else they share one. The other settings are
    those that all trainers of matching nets share.
    """

    name: ClassVar[str] = "deep-matching"
    kind: ClassVar[type[Match]] = rankers.DeepMatching
    hidden: int = 100
    filters: int = 2
    dropout: float = 0.6

    def _check_net(self) -> None:
        super()._check_net()
        if min(self.question_words, self.answer_words) < LEAST:
            raise UsageError(f"deep-matching needs {LEAST} question_words and answer_words or more")

    def sizes(self) -> dict[str, int | float]:
        """The settings of the net, but for the width of its words."""
        grid = {"rows": self.question_words, "columns": self.answer_words, "filters": self.filters}
        return {**grid, "hidden": self.hidden, "drop": self.dropout, "shared": int(self.preset != "code")}


@dataclass(frozen=True)
class Multihop(MatchTrainer):
    """A trainer of the Multihop Attention Network, with an LSTM of `hidden` units each way.

    With ``preset=paper`` or ``code`` it is the reference's: padding takes part in the attention, and a hop
    gets the state of the one before the last. The other settings are those that all trainers of matching nets
    share.
    """

    name: ClassVar[str] = "multihop"
    kind: ClassVar[type[Match]] = rankers.Multihop
    hidden: int = 64
    hops: int = 2
    dropout: float = 0.3

    def sizes(self) -> dict[str, int | float]:
        """The settings of the net, but for the width of its words."""
        length = 0 if self.preset == "fixed" else max(self.question_words, self.answer_words)
        return {"hidden": self.hidden, "hops": self.hops, "drop": self.dropout, "length": length}
