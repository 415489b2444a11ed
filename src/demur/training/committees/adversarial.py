"""The trainer that goes on with a net that matches words, against an adversary, and makes a committee."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from demur.errors import UnknownName, UsageError, require
from demur.rankers.base import Ranker
from demur.rankers.ensembles.committee import Committee
from demur.rankers.match_nets.match_nets import Match, Trained
from demur.specs import parse
from demur.training import innermost
from demur.training.base import Reporter, Trainer, silent
from demur.training.committees.irgan_rules import PRESETS, IrganRules
from demur.training.committees.members import Members, sampled
from demur.training.dev_set import NEVER, checkpoint_name, judges, on_dev, sole
from demur.training.small_nets.cached_words import CachedWords
from demur.training.small_nets.match_nets import MatchTrainer
from demur.training.small_nets.negatives import Negatives, check_labels
from demur.types import Pool

if TYPE_CHECKING:
    from demur.nets.matching.match_net import Worded

ADVERSARIES = ("irgan", "mined", "bm25", "none")
COLDEST = 1e-6


@dataclass(frozen=True)
class Adversarial(Trainer):
    """A net is trained further on wrong answers that an adversary chooses; the result is a committee.

    In each epoch every right answer is compared with `shown` answers of a pool of `pool`. `adversary`:
    ``irgan``, a second net that learns to choose what the first scores too high; ``mined``, those that the
    net itself scores highest; ``bm25``, those with most words of the question; ``none``, any. Of the presets,
    ``paper`` and ``code`` do as was published; ``fixed`` corrects their errors, and fills a pool with the
    question's own wrong answers first. With ``strangers=true`` it takes wrong answers of any question, as
    they do. A setting of 0 means the preset's own.

    The net is kept after every `every`-th epoch, the first and the last among them, with its dev measure
    `early`; `take` says what is made of these: see the trainer ``members``. With `patience`, training ends
    after so many epochs without a gain.
    """

    name: ClassVar[str] = "adversarial"
    adversary: str = "irgan"
    preset: str = "fixed"
    epochs: int = 12
    batch: int = 8
    shown: int = 5
    every: int = 3
    take: str = "committee"
    how: str = "mean"
    weights: str = "dev"
    early: str = "MAP"
    patience: int = 0
    pool: int = 0
    margin: float = 0.0
    learning_rate: float = 0.0
    generator_rate: float = 0.0
    temperature: float = 0.0
    seed: int = 0
    strangers: bool = False

    def __post_init__(self) -> None:
        if self.adversary not in ADVERSARIES:
            raise UnknownName("adversary", self.adversary, ADVERSARIES)
        if self.preset not in PRESETS:
            raise UnknownName("preset", self.preset, PRESETS)
        not_negative = self.patience, self.pool, self.margin, self.seed
        if min(self.epochs, self.batch, self.shown, self.every) < 1 or min(not_negative) < 0:
            what = "epochs, batch, shown and every must be 1 or more"
            raise UsageError(f"{what}; patience, pool, margin and seed 0 or more")
        if min(self.learning_rate, self.generator_rate, self.temperature) < 0:
            raise UsageError("learning_rate, generator_rate and temperature must not be below 0")
        if 0 < self.temperature < COLDEST:
            what = f"at a temperature of {self.temperature} scores are no longer numbers"
            raise UsageError(f"{what}; take {COLDEST} or more, or 0 for the preset's own")
        if self.adversary == "irgan" and self._rules().with_right and self._rules().pool == 1:
            what = f"with preset={self.preset} the right answer is one of the pool, so with pool=1 it is all"
            raise UsageError(f"{what}; say pool=2 or more")
        if self.adversary == "irgan" and self.shown == 1 and self._rules().baseline:
            what = "with one answer shown there are no others to be better than, so irgan would learn nothing"
            raise UsageError(f"{what}; show 2 or more")
        if self.early not in NEVER:
            sole(self.early)
        self._members().counted(len(sampled(self.epochs, self.every)) if not self.patience else 0)

    @property
    def votes(self) -> bool:
        """Whether it makes a committee; else one net."""
        return self._members().votes

    @property
    def one_of_votes(self) -> bool:
        """Whether it makes one net out of a committee."""
        return not self.votes

    @property
    def kept(self) -> set[int]:
        """The epochs whose nets are members for sure, as far as one can tell before."""
        return set() if self.patience or not self.votes else sampled(self.epochs, self.every)

    @property
    def known_by(self) -> str:
        """As of any trainer, and with the edition of the preset's rules, if they have changed."""
        said, edition = parse(super().known_by), PRESETS[self.preset].edition
        if edition > 1:
            said.settings["preset"] = f"{self.preset}-{edition}"
        return str(said)

    def follows(self, before: Trainer | None) -> None:
        """Raise an error unless that trainer makes a net that goes on."""
        made = innermost(before)
        makers = MatchTrainer, Adversarial, Members
        if not isinstance(made, makers) or made.votes:
            raise UsageError(_start(before.spec if before else ""))
        self._averages(made.tuned)

    def check(self, pools: Sequence[Pool], dev: Sequence[Pool] = ()) -> None:
        """Raise an error if nothing can be learnt, or nobody could say what is to be taken in the end."""
        check_labels(pools)
        self._members().possible(dev, self.early not in NEVER and judges(dev))

    def train(
        self,
        pools: Sequence[Pool],
        dev: Sequence[Pool] = (),
        *,
        start: Ranker | None = None,
        checkpoints: Path | None = None,
        report: Reporter = silent,
    ) -> Ranker:
        """What `take` says of the nets that these pools teach, beginning with the one to start from."""
        torch = require("torch", extra="encoder")
        from demur.training.committees.adversarial_loop import Schedule, train_nets

        if not isinstance(start, Match):
            raise UsageError(_start(start.spec if start else ""))
        named = None
        if checkpoints is not None:
            checkpoints.mkdir(parents=True, exist_ok=True)
            named = checkpoints / f"{self._key(pools, dev, start)}.safetensors"
        has = start.fresh()
        judge = self._judge(start, has, dev)
        self.check(pools, dev)  # known before hours are spent
        self._averages(has.network.tuned)
        schedule = Schedule(
            self.adversary,
            self._rules(),
            self.epochs,
            self.batch,
            self.shown,
            self.every,
            self.patience,
            self.seed,
        )
        with torch.random.fork_rng(devices=[]):  # the caller's random numbers are left alone
            state = train_nets(has, Negatives.of(pools), schedule, judge, named, report)
        members = []
        for epoch in sorted(state.kept):
            network = copy.deepcopy(has.network)
            network.load_state_dict(state.kept[epoch], strict=False)  # without vectors that stay
            members.append(_ranker(start, has, network))
        figures = [state.log[epoch]["dev"] for epoch in sorted(state.kept) if "dev" in state.log[epoch]]
        every = Committee.of(members, self.how, "uniform", figures, sorted(state.kept))
        return self._members().taken(every, dev)

    def _averages(self, tuned: bool) -> None:
        if self.take == "average" and tuned:
            what = "members whose vectors were tuned have each their own, so no mean"
            raise UsageError(f"{what}; take=committee, or leave out tuned")

    def _members(self) -> Members:
        measure = "MAP" if self.early in NEVER else self.early
        return Members(self.take, self.every, self.how, self.weights, measure)

    def _rules(self) -> IrganRules:
        rules = PRESETS[self.preset]
        heat = self.temperature
        return dataclasses.replace(
            rules,
            pool=self.pool or rules.pool,
            own=rules.own and not self.strangers,
            margin=self.margin or rules.margin,
            discriminator_rate=self.learning_rate or rules.discriminator_rate,
            generator_rate=self.generator_rate or rules.generator_rate,
            sampling=heat or rules.sampling,
            likelihood=heat or rules.likelihood,
        )

    def _judge(self, start: Match, has: Trained, dev: Sequence[Pool]) -> Callable[[Worded], float] | None:
        """What says how good a net is on dev; None if there is nothing to say it by."""
        if self.early in NEVER or not judges(dev):
            return None

        read = Trained(has.network, CachedWords(has.words), has.question_words, has.answer_words)

        def judge(network: Worded) -> float:
            return on_dev(_ranker(start, read, network), dev, self.early)

        return judge

    def _key(self, pools: Sequence[Pool], dev: Sequence[Pool], start: Ranker) -> str:
        """A hash of all that is learnt from, so that no checkpoint is taken for another's."""
        settings = dataclasses.replace(self, take="all", how="mean", weights="dev").known_by
        return checkpoint_name(f"{settings} {start.fingerprint}", (*pools, *dev))


def _start(given: str) -> str:
    """What is wrong with what there is to start from."""
    what = f"adversarial training cannot start from {given}" if given else "nothing to start from"
    return f"{what}; first train a matching net, such as match-pyramid, in a stage before"


def _ranker(start: Match, has: Trained, network: Worded) -> Match:
    return type(start).of(Trained(network, has.words, has.question_words, has.answer_words))
