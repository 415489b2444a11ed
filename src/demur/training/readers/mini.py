"""Training of one network that ranks, reads and doubts, on labelled pools and questions of SQuAD together."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from demur import precision
from demur.embedders import embedder
from demur.embedders.caching import cached_on_disk
from demur.embedders.encoders.loading import check_device, content, device_named
from demur.errors import UsageError, require
from demur.rankers import Ranker, ranker
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder, positions
from demur.rankers.vectors.recipe_encoder import in_floats
from demur.reading.opening import reader as opened
from demur.reading.readers.mini_torch import MiniTorch, batch_of
from demur.training.base import Reporter, Trainer, silent
from demur.training.loop.fitting import Schedule, Step, fit, steps_of
from demur.training.readers.added_negatives import add_negatives
from demur.training.readers.larger_reader import LargerReader
from demur.training.readers.mini_examples import Parts, alone, is_reading, longest_of, ranking
from demur.training.readers.mini_faq import entries
from demur.training.readers.mini_teacher import LABELS, shares, shares_of_teacher
from demur.training.readers.mini_windows import Example, pairs, parts
from demur.types import FloatArray, Pool

if TYPE_CHECKING:
    import torch

    from demur.nets.readers.mini import Mini as Network

TASKS = ("both", "rank", "read")


@dataclass(frozen=True)
class Mini(Trainer):
    """One network for ranking and reading, from a cross-encoder's folder or any Hugging Face encoder.

    The scores are trained on pools with right and wrong answers, by a softmax over each: at most `negatives`
    right ones and as many others, truncated at `pair` tokens. Where answers start and end, and whether there
    is one, is trained on questions of SQuAD; probes of each layer are trained too, without a gradient to the
    network. `tasks` leaves one of both out, to compare. A step is as much of one kind as `tokens` allow.

    With a `teacher`, a ranker such as encoder, a network also learns that one's opinion of each pool; where
    it is trained further, the sum of its own scores and the teacher's. `more` texts of other questions that a
    search would find join each pool, and each question of SQuAD, or `among` of them. `entries` of an FAQ are
    learnt from the teacher alone: which of them ask the same. `stay` is the share by which all weights are
    then moved back to where they started (Wortsman et al. 2022). `reader` is a larger reader, such as a
    folder of a span-reader: half of what is learnt of a part of a passage is where that one thinks the answer
    starts and ends, and whether there is one. Where either is there,
    `unlabelled` leaves labels out, to compare.
    """

    name: ClassVar[str] = "mini"
    edition: ClassVar[int] = 2
    base: str = "minilm"
    learning_rate: float = 7e-5
    epochs: int = 1
    tokens: int = 3072
    negatives: int = 3
    pair: int = 128
    max_length: int = 384
    stride: int = 128
    freeze_words: bool = True
    precision: str = "auto"
    seed: int = 0
    tasks: str = "both"
    device: str = ""
    teacher: str = ""
    more: int = 0
    entries: int = 0
    stay: float = 0.0
    quick: bool = False
    reader: str = ""
    among: int = 0
    unlabelled: bool = False

    def __post_init__(self) -> None:
        if self.tasks not in TASKS:
            raise UsageError(f"tasks={self.tasks!r} is not known; use tasks=both, rank or read")
        precision.check(self.precision)
        if min(self.epochs, self.tokens, self.negatives, self.stride) < 1:
            raise UsageError("epochs, tokens, negatives and stride must be 1 or more")
        if min(self.max_length, self.pair) < 16:
            raise UsageError("max_length and pair must be 16 or more")
        check_device(self.device)
        if self.more < 0 or (self.more and not self.teacher):
            raise UsageError(
                "more is 0 or more texts, whose place a teacher says; name one, as teacher=encoder"
            )
        if self.among < 0 or (self.among and not self.more):
            raise UsageError("among is how many of SQuAD's questions stand among more texts; say more=… too")
        if self.entries < 0 or (self.entries and not self.more):
            raise UsageError("entries must be 0 or more questions, each beside as many others as more says")
        if self.unlabelled and not (self.teacher or self.reader):
            raise UsageError("unlabelled leaves nothing to learn from; name a teacher, as teacher=encoder")
        if not 0 <= self.stay < 1:
            raise UsageError(f"stay={self.stay:g} must be a share from 0 to below 1")

    @property
    def depends(self) -> str:
        """A hash of the base, if it is a folder, as others may be put there; and of the teacher."""
        based = content(Path(self.base)) if Path(self.base).is_dir() else ""
        taught = ranker(in_floats(self.teacher)).fingerprint if self.teacher else ""
        return based + taught + (opened(self.reader).fingerprint if self.reader else "")

    def sees(self, pool: Pool) -> list[Any]:
        """What of a pool the result depends on: answers and titles too."""
        return [*super().sees(pool), pool.extra.get("answers"), pool.extra.get("title")]

    def check(self, pools: Sequence[Pool], dev: Sequence[Pool] = ()) -> None:
        """Raise an error if there is nothing to rank and nothing to read."""
        read = [pool for pool in pools if is_reading(pool)]
        ranked = bool(ranking(pools, self.negatives, self.seed) or (self.teacher and (self.entries or read)))
        if not (ranked and self.tasks != "read") and not (read and self.tasks != "rank"):
            raise _nothing_to_learn()

    @property
    def goes_on_from(self) -> tuple[type[Trainer], ...]:
        """Those of its own kind, and all trainers of cross-encoders, whose scorer it takes."""
        from demur.training.cross_encoders.cross_encoder import CrossEncoder as Scorers

        return (Mini, Scorers)

    def train(
        self,
        pools: Sequence[Pool],
        dev: Sequence[Pool] = (),
        *,
        start: Ranker | None = None,
        checkpoints: Path | None = None,
        report: Reporter = silent,
    ) -> MiniTorch:
        """The network that these pools teach."""
        torch = require("torch", extra="encoder")
        device = device_named(self.device or "auto")
        with torch.random.fork_rng():  # the caller's random numbers are left alone
            torch.manual_seed(self.seed)
            begun = self._begun(start).resized(self.max_length, self.stride)
            network, tokenizer = begun.fresh()
            network.to(device)
            if self.freeze_words:
                from demur.nets.readers.mini import freeze_words

                freeze_words(cast("Network", network))
            taught = isinstance(start, MiniTorch) or (start is None and self._taught_before)
            ranked, trust = self._ranked(pools, begun if taught else None, report)
            larger = LargerReader(self.reader, device) if self.reader else None
            examples, orders = self._examples(begun, network, tokenizer, pools, ranked, larger)
            for place, trusted in enumerate(trust):
                examples[place] = dataclasses.replace(examples[place], shares=trusted)
            named = None
            if checkpoints is not None:
                checkpoints.mkdir(parents=True, exist_ok=True)
                named = checkpoints / f"{self._key(pools, start)}.safetensors"
            before = copy.deepcopy(network.state_dict()) if self.stay else {}
            self._fit(cast("Network", network), examples, orders, larger, named, report)
            for name, value in network.state_dict().items() if before else ():
                if value.is_floating_point():
                    value.lerp_(before[name].to(value.device), self.stay)
        return begun.holding(network.to(device_named(begun.device)), tokenizer)

    def _begun(self, start: Ranker | None) -> MiniTorch:
        """The network that learns: a new one, one that goes on, or a cross-encoder with new heads."""
        if start is None or isinstance(start, MiniTorch):
            return start or MiniTorch(model=self.base, precision=precision.of_made(self.precision))
        if not isinstance(start, CrossEncoder):
            raise UsageError(f"mini cannot start from {start.spec}; take a cross-encoder or another one")
        from demur.nets.readers.mini import Mini as Network

        scorer, tokenizer = start.fresh()
        made = MiniTorch(model="new", precision=precision.of_made(self.precision))
        return made.holding(Network(scorer), tokenizer)

    @property
    def _taught_before(self) -> bool:
        """Whether the base is the folder of a mini, which has an opinion."""
        from demur.nets.readers.mini import HEADS

        return (Path(self.base) / HEADS).is_file()

    def _ranked(
        self, pools: Sequence[Pool], before: MiniTorch | None, report: Reporter
    ) -> tuple[list[Pool], list[FloatArray]]:
        """The pools that are ranked, and what a teacher says of them, if there is one."""
        if self.tasks == "read":
            return [], []
        found = ranking(pools, self.negatives, self.seed)
        if not self.teacher:
            return found, []
        found += self._some(alone(pools))
        texts, near = [text for pool in found for text in pool.answers], cached_on_disk(embedder("encoder"))
        found = list(add_negatives(found, texts, self.more, self.seed, near))
        found = [pool for pool in found if len(pool) > 1]
        alike = entries(pools, self.entries, self.more, self.seed, near) if self.entries else []
        teacher = ranker(in_floats(self.teacher)).prepare([*found, *alike])
        if before is None:
            return [*found, *alike], shares_of_teacher([*found, *alike], teacher)
        trust = shares(found, before, teacher, report, self.precision)
        return [*found, *alike], trust + shares_of_teacher(alike, teacher)

    def _some(self, pools: list[Pool]) -> list[Pool]:
        """As many of the pools as are to be ranked among other texts."""
        if not 0 < self.among < len(pools):
            return pools
        chosen = np.random.default_rng([self.seed, 8]).choice(len(pools), self.among, replace=False)
        return [pools[place] for place in sorted(chosen.tolist())]

    def _examples(
        self,
        begun: MiniTorch,
        network: torch.nn.Module,
        tokenizer: Any,
        pools: Sequence[Pool],
        ranked: Sequence[Pool],
        larger: LargerReader | None,
    ) -> tuple[list[Example], list[list[list[int]]]]:
        """All examples of all epochs, and of each epoch the places of its steps; those of `ranked` first."""
        asked = Parts(pools if self.tasks != "rank" else (), self.seed)
        if not ranked and not asked.pools:
            raise _nothing_to_learn()
        examples = pairs(begun, network, tokenizer, ranked, self.pair)
        orders = []
        for epoch in range(self.epochs):
            shown = parts(begun, network, tokenizer, list(asked.epoch(epoch)), larger)
            steps = self._steps(examples[: len(ranked)], 0, epoch) + self._steps(shown, len(examples), epoch)
            mixed = np.random.default_rng([self.seed, epoch, 1]).permutation(len(steps))
            orders.append([steps[place] for place in mixed.tolist()])
            examples += shown
        return examples, orders

    def _steps(self, examples: Sequence[Example], after: int, epoch: int) -> list[list[int]]:
        sizes = [len(example.windows) for example in examples]
        lengths = [window.length for example in examples for window in example.windows]
        found = steps_of(longest_of(lengths, sizes), sizes, self.tokens, self.seed, epoch) if sizes else ()
        return [[after + place for place in step] for step in found]

    def _fit(
        self,
        network: Network,
        examples: Sequence[Example],
        orders: Sequence[Sequence[list[int]]],
        larger: LargerReader | None,
        checkpoint: Path | None,
        report: Reporter,
    ) -> None:
        from demur.training.objectives.mini import agreeing, ranked, reading_loss

        device, most = next(network.parameters()).device, positions(network)
        by_labels = 0.0 if self.unlabelled else LABELS

        def loss_of(step: Step) -> tuple[torch.Tensor, int]:
            some = [examples[place] for place in step]
            windows = [window for example in some for window in example.windows]
            batch, there = batch_of(windows, device, most)
            scores, spans, layers = network(batch)
            right = [true for example in some for true in example.right]
            if some[0].span is None:
                sizes = [len(example.windows) for example in some]
                if self.teacher:
                    shares_of = [example.shares for example in some]
                    return agreeing(scores, right, sizes, shares_of, by_labels), len(windows)
                return ranked(scores, right, sizes), len(windows)
            places = [example.span or (0, 0) for example in some]
            judged = None if self.tasks == "read" else right
            told = larger.told([example.read for example in some], there) if larger else None
            loss = reading_loss(scores, spans, layers, there, places, judged, told, by_labels)
            return loss, len(windows)

        over = np.cumsum([len(order) for order in orders]).tolist()
        steps = [step for order in orders for step in order]
        schedule = Schedule(
            self.learning_rate, precision=self.precision, device=device.type, quick=self.quick
        )
        fit(network, steps, loss_of, schedule, checkpoint, report, ends=over)

    def _key(self, pools: Sequence[Pool], start: Ranker | None) -> str:
        """A hash of the settings, the start and what is learnt from: no checkpoint is taken for another's."""
        said = [self.known_by, self.depends, start.fingerprint if start else ""]
        digest = hashlib.sha256(json.dumps(said).encode())
        for pool in pools:
            digest.update(json.dumps(self.sees(pool)).encode())
        return digest.hexdigest()[:16]


def _nothing_to_learn() -> UsageError:
    what = "no pool has both a right and a wrong answer, or one passage and its answers as SQuAD's"
    return UsageError(f"{what}, so nothing can be learnt; give some of either kind")
