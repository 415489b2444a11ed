"""Training of a sentence encoder: on labelled pools, and on what a larger encoder thinks of any texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demur import precision
from demur.embedders.caching import cached_on_disk
from demur.embedders.encoders.encoder import Encoder
from demur.embedders.encoders.loading import Recipe, check_device, content, device_named
from demur.errors import UsageError, require
from demur.rankers.base import Ranker
from demur.rankers.vectors.bi_encoder import BiEncoder as BiEncoderRanker
from demur.training.base import Reporter, Trainer, silent
from demur.training.dev_set import NEVER, checkpoint_name, judges, on_dev, sole
from demur.training.encoders.nearness import near_together
from demur.training.loop.fitting import Schedule, Step, fit
from demur.types import FloatArray, Pool

if TYPE_CHECKING:
    import torch

    from demur.embedders.encoders.network import Network

_ROUND, _ROUND_ON_GPU = 8, 64  # to a multiple of so many tokens: a CPU meets few shapes, a GPU few batches


@dataclass(frozen=True)
class BiEncoder(Trainer):
    """A sentence encoder, trained from any of Hugging Face whose vector is the mean of its tokens'.

    Of each pool it learns all right answers and at most `negatives` others, drawn by the seed; the answers to
    other questions of a step count as wrong ones too. A step is as many pools as `tokens` allow. Cosines are
    divided by `heat`.

    With a `teacher`, a larger encoder's model such as mpnet, it learns from texts alone, labelled or not: how
    near each is to all others of a step, as the teacher has it, which computes in the same `precision`. Steps
    are then made of questions that the teacher finds near. `labels` is the share of the loss that labels have
    beside.

    `early` names a measure, such as MAP, by which the dev set chooses the best epoch; with `patience`,
    training ends after so many epochs without a gain. With `freeze_words` word embeddings stay as they are.
    """

    name: ClassVar[str] = "bi-encoder"
    base: str = "minilm"
    learning_rate: float = 3e-5
    epochs: int = 1
    negatives: int = 3
    tokens: int = 4096
    max_length: int = 128
    heat: float = 0.05
    freeze_words: bool = True
    precision: str = "auto"
    seed: int = 0
    teacher: str = ""
    labels: float = 0.0
    early: str = ""
    patience: int = 0
    device: str = ""
    quick: bool = False

    def __post_init__(self) -> None:
        precision.check(self.precision)
        if min(self.epochs, self.negatives, self.tokens) < 1 or self.max_length < 4:
            raise UsageError("epochs, negatives and tokens must be 1 or more, and max_length 4 or more")
        if not (self.learning_rate > 0 and self.heat > 0 and self.patience >= 0 and 0 <= self.labels < 1):
            raise UsageError(
                "learning_rate and heat must be above 0, patience 0 or more, and labels a share below 1"
            )
        if self.labels and not self.teacher:
            raise UsageError("labels are all there is to learn without a teacher; leave labels=… out")
        check_device(self.device)
        if self.early not in NEVER:
            sole(self.early)

    @property
    def depends(self) -> str:
        """A hash of the base, if it is a folder, and of the teacher."""
        based = content(Path(self.base)) if Path(self.base).is_dir() else ""
        return based + (self._teacher.fingerprint if self.teacher else "")

    def check(self, pools: Sequence[Pool], dev: Sequence[Pool] = ()) -> None:
        """Raise an error if nothing can be learnt from these pools."""
        if not len(pools) or not (self.teacher or judges(pools)):
            judged = any(label is not None for pool in pools for label in pool.labels)
            pairs = (
                "" if judged else "; in a file of pairs that are all right, call the keys anchor and positive"
            )
            what = "no pool has a right answer, so nothing can be learnt; label some, or name a teacher"
            raise UsageError(f"{what}{pairs}")

    @property
    def _teacher(self) -> Encoder:
        return Encoder(self.teacher, max_length=self.max_length, precision=self.precision)

    @property
    def goes_on_from(self) -> tuple[type[Trainer], ...]:
        """Those of its own kind."""
        return (BiEncoder,)

    def train(
        self,
        pools: Sequence[Pool],
        dev: Sequence[Pool] = (),
        *,
        start: Ranker | None = None,
        checkpoints: Path | None = None,
        report: Reporter = silent,
    ) -> BiEncoderRanker:
        """The encoder that these pools teach."""
        torch = require("torch", extra="encoder")
        if start is not None and not isinstance(start, BiEncoderRanker):
            raise UsageError(f"a bi-encoder cannot start from {start.spec}; start from another one")
        begun = start or BiEncoderRanker(model=self.base, precision=precision.of_made(self.precision))
        device = device_named(self.device or "auto")
        self.check(pools, dev)
        taught = self._taught(pools)
        with torch.random.fork_rng():  # the caller's random numbers are left alone
            torch.manual_seed(self.seed)
            network, tokenizer = begun.fresh()
            network.to(device)
            if self.freeze_words:
                from demur.nets.transformers.cross_encoder import freeze_words

                freeze_words(network)
            judge = None
            if self.early not in NEVER and judges(dev):
                looked_at = replace(begun, device=device).holding(network, tokenizer)
                judge = lambda: on_dev(looked_at, dev, self.early)  # noqa: E731
            named = None
            if checkpoints is not None:
                checkpoints.mkdir(parents=True, exist_ok=True)
                said = f"{self.known_by} {self.depends} {start.fingerprint if start else ''}"
                named = (
                    checkpoints / f"{checkpoint_name(said, [*taught, *(dev if judge else ())])}.safetensors"
                )
            self._fit(network, tokenizer, taught, judge, named, report)
        return begun.holding(network.to(device_named(begun.device)), tokenizer)

    def _taught(self, pools: Sequence[Pool]) -> list[Pool]:
        """The pools that are learnt from, with some of their candidates."""
        found = []
        for number, pool in enumerate(pools):
            draws = np.random.default_rng([self.seed, number])
            right = [one for one in pool.candidates if (one.label or 0) > 0]
            rest = [one for one in pool.candidates if one not in right]
            chosen = [rest[n] for n in sorted(draws.permutation(len(rest))[: self.negatives].tolist())]
            if self.teacher or right:
                found.append(replace(pool, candidates=(*right, *chosen)))
        return found

    def _fit(
        self,
        network: torch.nn.Module,
        tokenizer: Any,
        pools: Sequence[Pool],
        judge: Callable[[], float] | None,
        checkpoint: Path | None,
        report: Reporter,
    ) -> None:
        import torch

        from demur.embedders.encoders.network import running
        from demur.training.encoders.losses import contrast, geometry

        device = str(next(network.parameters()).device)
        ready = running(network, tokenizer, Recipe(Path(), normalize=True), device)
        texts = list(dict.fromkeys(text for pool in pools for text in (pool.question, *pool.answers)))
        places = {text: place for place, text in enumerate(texts)}
        ids = [each.ids for each in ready.encodings(texts, min(self.max_length, ready.positions))]
        aims = self._aims(texts, report)
        right = [{places[one.text] for one in pool.candidates if (one.label or 0) > 0} for pool in pools]

        def loss_of(step: Step) -> tuple[torch.Tensor, int]:
            asked = [places[pools[n].question] for n in step]
            told = list(dict.fromkeys(places[text] for n in step for text in pools[n].answers))
            shown = list(dict.fromkeys([*asked, *told]))
            row = {place: n for n, place in enumerate(shown)}
            vectors = encoded(ready, [ids[place] for place in shown])
            loss = vectors.new_zeros(())
            if aims is not None:
                wanted = torch.from_numpy(np.asarray(aims[shown], np.float32)).to(device)
                loss = (1 - self.labels) * geometry(vectors, wanted, self.heat)
            if aims is None or (self.labels and told):
                fits = torch.tensor([[place in right[n] for place in told] for n in step], device=device)
                found = contrast(
                    vectors[[row[n] for n in asked]], vectors[[row[n] for n in told]], fits, self.heat
                )
                loss = found if aims is None else loss + self.labels * found
            return loss, len(shown)

        sizes = [sum(len(ids[places[text]]) for text in (pool.question, *pool.answers)) for pool in pools]
        of_questions = None if aims is None else np.asarray(aims[[places[pool.question] for pool in pools]])
        orders = [list(self._steps(sizes, of_questions, epoch)) for epoch in range(self.epochs)]
        steps = [step for order in orders for step in order]
        over = np.cumsum([len(order) for order in orders]).tolist()
        kind = device.partition(":")[0]
        schedule = Schedule(
            self.learning_rate,
            precision=self.precision,
            device=kind,
            patience=self.patience,
            quick=self.quick,
        )
        fit(network, steps, loss_of, schedule, checkpoint, report, ends=over, judge=judge)

    def _aims(self, texts: Sequence[str], report: Reporter) -> FloatArray | None:
        """The teacher's vectors of all texts, which are kept on disk, so that they are computed once."""
        if not self.teacher:
            return None
        encoder, found = cached_on_disk(self._teacher), []
        for at in range(0, len(texts), 512):
            found.append(encoder.embed(texts[at : at + 512]))
            report({"share": min((at + 512) / len(texts), 1.0)})
        return np.concatenate(found)

    def _steps(self, sizes: Sequence[int], vectors: FloatArray | None, epoch: int) -> Iterator[list[int]]:
        """The pools of each step of an epoch: drawn, or where there are vectors such as are near together."""
        draws = np.random.default_rng([self.seed, epoch])
        order = draws.permutation(len(sizes))
        if vectors is not None:
            order = near_together(vectors, order, draws)
        found: list[list[int]] = [[]]
        held = 0
        for place in order.tolist():
            if found[-1] and held + sizes[place] > self.tokens:
                found.append([])
                held = 0
            found[-1].append(place)
            held += sizes[place]
        for number in draws.permutation(len(found)).tolist():
            yield found[number]


def encoded(ready: Network, ids: Sequence[Sequence[int]]) -> torch.Tensor:
    """The mean of the token vectors of each text; texts of like length go through the network together."""
    import torch

    by_length: dict[int, list[int]] = {}
    step = _ROUND if str(ready.device) == "cpu" else _ROUND_ON_GPU
    for place, each in enumerate(ids):
        by_length.setdefault(min(-(-len(each) // step) * step, ready.positions), []).append(place)
    order, parts = [], []
    for length, chosen in sorted(by_length.items()):
        rows = torch.full((len(chosen), length), ready.padding)
        for row, place in enumerate(chosen):
            rows[row, : len(ids[place])] = torch.tensor(ids[place])
        sizes = torch.tensor([[len(ids[place])] for place in chosen])
        there = (torch.arange(length)[None] < sizes).to(ready.device)
        inputs = {"input_ids": rows.to(ready.device), "attention_mask": there.long()}
        if ready.typed:
            inputs["token_type_ids"] = torch.zeros_like(inputs["input_ids"])
        hidden = ready.network(**inputs).last_hidden_state  # texts × tokens × width
        parts.append((hidden * there[:, :, None]).sum(1) / sizes.to(ready.device))
        order += chosen
    back = torch.empty(len(order), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(order))
    return torch.cat(parts)[back.to(ready.device)]
