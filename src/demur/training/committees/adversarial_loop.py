"""The loop in which a net learns from hard wrong answers: an adversary's, mined ones, BM25's, or any.

An epoch's random numbers depend on the seed and its number alone, so training may go on from a checkpoint.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from demur.errors import Astray, DataError
from demur.nets.matching.match_net import Worded
from demur.rankers import ranker
from demur.rankers.match_nets import match_pairs
from demur.rankers.match_nets.match_nets import Trained
from demur.rankers.match_nets.word_numbers import Read
from demur.training.base import Reporter, sane, sound
from demur.training.committees.adversarial_states import keep, resume
from demur.training.committees.irgan import chances, deserved, drawn, highest, hinge, reinforce, reward
from demur.training.committees.irgan_rules import IrganRules
from demur.training.committees.members import sampled
from demur.training.small_nets.negatives import Negatives
from demur.types import IntArray, Pool

_TOGETHER, _JUDGED = 64, 32  # pairs that are learnt from, and those that are only scored
_KEEP = 30.0  # seconds between checkpoints
_LEAST = 1e-8  # of a weight that is not rounded from 0


@dataclass(frozen=True)
class Schedule:
    """How two nets are trained: against whom, how long, and with how many answers shown to a question."""

    adversary: str
    rules: IrganRules
    epochs: int
    batch: int
    shown: int
    every: int
    patience: int
    seed: int


@dataclass
class TwoNets:
    """Where training stands: the two nets, their optimisers, and what the discriminator was before."""

    discriminator: Worded
    generator: Worded
    rates: tuple[float, float]
    log: list[dict[str, Any]] = field(default_factory=list)
    kept: dict[int, dict[str, Tensor]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.optimisers = [
            torch.optim.Adam([w for w in net.parameters() if w.requires_grad], lr=rate)
            for net, rate in zip((self.discriminator, self.generator), self.rates, strict=True)
        ]

    @property
    def best(self) -> int:
        """The first of the best epochs on dev; the last one, if nobody looked."""
        dev = [facts.get("dev", float(facts["epoch"])) for facts in self.log]
        return int(np.argmax(dev))

    def note(self, facts: dict[str, Any], every: int) -> None:
        """Write down an epoch; of the nets, keep every `every`-th, the best and the last."""
        self.log.append(facts)
        now = {name: weights.clone() for name, weights in self.discriminator.learnt().items()}
        sound(now.values())
        last = int(facts["epoch"])
        self.kept[last] = now
        wanted = sampled(last, every) | {self.best}
        self.kept = {epoch: weights for epoch, weights in self.kept.items() if epoch in wanted}


def train_nets(
    has: Trained,
    negatives: Negatives,
    schedule: Schedule,
    judge: Callable[[Worded], float] | None,
    checkpoint: Path | None,
    report: Reporter,
) -> TwoNets:
    """Where it ends; both nets begin as the one that is given, which is epoch 0."""
    rules = schedule.rules
    first = has.network.eval()
    rates = rules.discriminator_rate, rules.generator_rate
    state = TwoNets(copy.deepcopy(first), copy.deepcopy(first), rates)
    over = Epochs(has, negatives, schedule)
    if not resume(checkpoint, state):
        state.note(
            {"epoch": 0} | ({} if judge is None else {"dev": judge(state.discriminator)}), schedule.every
        )
    for facts in state.log:
        report({**facts, "epochs": schedule.epochs})
    saved = time.monotonic()
    while (epoch := len(state.log)) <= schedule.epochs:
        if 0 < schedule.patience <= epoch - 1 - state.best and judge is not None:
            break
        facts = {"epoch": epoch, **over.epoch(state, epoch)}
        if judge is not None:
            facts["dev"] = judge(state.discriminator.eval())
        state.note(facts, schedule.every)
        report({**facts, "epochs": schedule.epochs})
        if checkpoint is not None and time.monotonic() - saved > _KEEP:
            keep(checkpoint, state)
            saved = time.monotonic()
    return state


class Epochs:
    """What epochs are run over: the words of all texts, and who chooses which answers are shown."""

    def __init__(self, has: Trained, negatives: Negatives, schedule: Schedule) -> None:
        self.has, self.negatives, self.schedule = has, negatives, schedule
        self.read: Read = negatives.read(has.words)
        net = has.network.net
        self.margin, self.heat = schedule.rules.margin or net.margin, net.heat

    def epoch(self, state: TwoNets, number: int) -> dict[str, float]:
        """One epoch over all right answers: means of what was seen."""
        torch.manual_seed(self.schedule.seed * 100_003 + number)
        draws = np.random.default_rng([self.schedule.seed, number])
        sums: dict[str, float] = {}
        count = 0
        for examples, grid, there in self.batches(draws):
            facts = self.step(state, examples, grid, there, draws)
            for name, value in facts.items():
                sums[name] = sums.get(name, 0.0) + value * len(examples)
            count += len(examples)
        if not count:
            fix = "give more questions, or label wrong answers"
            raise DataError("there are no wrong answers, so nothing can be shown", fix=fix)
        return {name: value / count for name, value in sums.items()}

    def batches(self, draws: np.random.Generator) -> Iterator[tuple[IntArray, IntArray, Tensor]]:
        """Right answers, the pool of each as numbers of texts, B × P, and which of these there are."""
        rules = self.schedule.rules
        order = draws.permutation(len(self.negatives))
        for at in range(0, len(order), self.schedule.batch):
            examples = order[at : at + self.schedule.batch]
            pools = [self.negatives.drawn(each, rules.pool, draws, rules.own) for each in examples.tolist()]
            some = np.array([len(pool) > 0 for pool in pools])
            examples, pools = examples[some], [pool for pool in pools if len(pool)]
            if not pools:
                continue
            if rules.with_right and self.schedule.adversary == "irgan":  # the code's generator has it
                pools = [
                    np.append(pool[: rules.pool - 1], self.negatives.right[each])
                    for pool, each in zip(pools, examples.tolist(), strict=True)
                ]
            grid = np.zeros((len(pools), max(map(len, pools))), np.int64)
            there = np.zeros(grid.shape, np.bool_)
            for row, pool in enumerate(pools):
                grid[row, : len(pool)], there[row, : len(pool)] = pool, True
            yield examples, grid, torch.from_numpy(there)

    def step(
        self,
        state: TwoNets,
        examples: IntArray,
        grid: IntArray,
        there: Tensor,
        draws: np.random.Generator,
    ) -> dict[str, float]:
        """The generator's move, if there is one, and the discriminator's."""
        schedule, rules = self.schedule, self.schedule.rules
        facts: dict[str, float] = {}
        if schedule.adversary == "irgan":
            with torch.set_grad_enabled(not rules.baseline):  # with one, `generated` needs it of few answers
                scores = self.scores(state.generator.eval(), examples, grid, there)
            sampling = chances(scores.detach(), there, rules.heat(rules.sampling, self.heat))
            places, shown = drawn(sampling, schedule.shown, rules.again)
            facts |= self.generated(state, examples, grid, scores, there, places, shown)
            facts["entropy"] = float(-(sampling.exp() * sampling.masked_fill(~there, 0)).sum(1).mean())
            if rules.seconds:
                second = chances(scores.detach(), there, rules.heat(rules.second, self.heat))
                places, shown = drawn(second, rules.seconds, rules.again)
        else:
            places, shown = highest(self.liked(state, examples, grid, there, draws), schedule.shown)
        return facts | self.discriminated(state, examples, grid, places, shown)

    def liked(
        self,
        state: TwoNets,
        examples: IntArray,
        grid: IntArray,
        there: Tensor,
        draws: np.random.Generator,
    ) -> Tensor:
        """How much an adversary that learns nothing wants to show each answer: B × P."""
        if self.schedule.adversary == "mined":
            with torch.no_grad():
                return self.scores(state.discriminator.eval(), examples, grid, there)
        if self.schedule.adversary == "none":
            return torch.from_numpy(draws.random(grid.shape)).masked_fill(~there, -torch.inf)
        texts, found = self.negatives.texts, torch.full(grid.shape, -torch.inf, dtype=torch.float64)
        counts = there.sum(1).tolist()
        pools = [
            Pool.of(texts[self.negatives.questions[example]], [texts[n] for n in row[:count].tolist()])
            for example, row, count in zip(examples.tolist(), grid, counts, strict=True)
        ]
        for row, scores in enumerate(ranker("bm25").score_pools(pools)):
            found[row, : len(scores)] = torch.from_numpy(scores)
        return found

    def generated(
        self,
        state: TwoNets,
        examples: IntArray,
        grid: IntArray,
        scores: Tensor,
        there: Tensor,
        places: Tensor,
        shown: Tensor,
    ) -> dict[str, float]:
        """The generator learns to show what the discriminator falls for."""
        rules = self.schedule.rules
        heat = rules.heat(rules.likelihood, self.heat)
        seen = torch.zeros_like(there).scatter(1, places, shown)  # an answer drawn twice is judged once
        texts = np.concatenate([self.negatives.right[examples][:, None], grid], axis=1)
        with torch.no_grad():
            both = torch.cat([torch.ones(len(seen), 1, dtype=torch.bool), seen], 1)
            found = self.scores(state.discriminator.eval(), examples, texts, both)
            gains = reward(found[:, :1], found[:, 1:].gather(1, places), self.margin, rules.signed)
        if rules.baseline:
            loss = (
                self.baselined(state.generator, examples, grid, places, deserved(gains, shown, True)) / heat
            )
        else:
            loss = reinforce(chances(scores, there, heat).gather(1, places), gains, shown, False)
        self._move(state, 1, loss)
        return {"reward": float((gains * shown).sum() / shown.sum())}

    def baselined(
        self, net: Worded, examples: IntArray, grid: IntArray, places: Tensor, weights: Tensor
    ) -> Tensor:
        """The generator's loss, times its temperature, where the weights of each question are 0 in sum.

        What is taken off all scores of a pool to make them log-probabilities cancels out. So the answers that
        were drawn are enough, and of these such as were not drawn as often against as for.
        """
        each = torch.zeros(grid.shape).scatter_add(1, places, weights)
        needed = each.abs() > _LEAST
        needed[0, 0] = True  # so that something is scored, if with a weight of 0
        scores = self.scores(net, examples, grid, needed)
        return -(each * scores.masked_fill(~needed, 0.0)).sum()

    def discriminated(
        self, state: TwoNets, examples: IntArray, grid: IntArray, places: Tensor, shown: Tensor
    ) -> dict[str, float]:
        """The discriminator learns to put right answers above those that are shown."""
        texts = np.concatenate([self.negatives.right[examples][:, None], _at(grid, places)], axis=1)
        both = torch.cat([torch.ones(len(shown), 1, dtype=torch.bool), shown], 1)
        scores = self.scores(state.discriminator.train(), examples, texts, both)
        right, wrong = scores[:, :1], scores[:, 1:].masked_fill(~shown, 0.0)
        loss = hinge(right, wrong, shown, self.margin, self.schedule.rules.summed)
        self._move(state, 0, loss)
        hard = ((self.margin - right + wrong > 0) & shown).sum() / shown.sum()
        return {"loss": loss.item(), "hardness": float(hard)}

    def scores(self, net: Worded, examples: IntArray, texts: IntArray, there: Tensor | None = None) -> Tensor:
        """What a net says of some texts as answers, B × P; -inf where none is there."""
        rows, columns = np.nonzero(np.ones(texts.shape) if there is None else there.numpy())
        questions, answers = self.negatives.questions[examples][rows], texts[rows, columns]
        order = np.argsort(np.diff(self.read.first)[answers], kind="stable")  # so that little is filled up
        most = _TOGETHER if torch.is_grad_enabled() else _JUDGED
        batches = np.array_split(order, -(-len(order) // most))
        words = self.has.question_words, self.has.answer_words
        found = match_pairs.scores(net, self.read, questions, answers, words, batches)
        if not found.isfinite().all():  # nothing can be drawn by such scores, nor learnt from them
            what = "one of the two nets diverged: its scores are not finite numbers"
            raise Astray(f"{what}; lower learning_rate or generator_rate")
        grid = torch.full(texts.shape, -torch.inf)
        return grid.index_put((torch.from_numpy(rows), torch.from_numpy(columns)), found)

    def _move(self, state: TwoNets, which: int, loss: Tensor) -> None:
        optimiser, clip = state.optimisers[which], self.schedule.rules.clip
        sane(loss.item())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch says no type here
        weights = optimiser.param_groups[0]["params"]
        if clip:
            torch.nn.utils.clip_grad_value_(weights, clip)
        else:
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()


def _at(grid: IntArray, places: Tensor) -> IntArray:
    return np.take_along_axis(grid, places.numpy(), axis=1)
