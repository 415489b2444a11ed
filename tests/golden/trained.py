"""Golden runs of what learns: a few seeded steps of each trainer and objective, in single precision."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file

from demur.asking import example
from demur.rankers.base import Ranker
from demur.rankers.opening import save
from demur.training import trainer
from demur.training.committees.irgan import chances, deserved, hinge, reward
from demur.training.encoders.losses import contrast, geometry
from demur.training.objectives.base import Objective, Plain, ScoredPairs
from demur.training.objectives.curriculum import Curriculum
from demur.training.objectives.decorrelation import PRESETS, learnt
from demur.training.objectives.distilled import Distilling
from demur.training.objectives.pool_losses import Loss
from demur.training.objectives.robust import GroupDRO, Product, Reweighted
from demur.training.objectives.scan import ScanObjective
from demur.training.objectives.support import Supporting
from demur.types import Candidate, Pool
from golden.rankers import flat
from laws import toys
from training import made

SHIPS = ["ship", "cafe", "abc", "cape"]


@cache
def taught(name: str) -> Ranker:
    """What a trainer makes of a few questions."""
    return fresh(name)


def fresh(name: str) -> Ranker:
    """The same, made now."""
    spec, settings = SPECS[name]()
    by = trainer(spec, **settings)
    pools = passages() if by.reads or name == "mini" else made.pools(10)
    start = taught(STARTS[name]) if name in STARTS else None
    with torch.random.fork_rng(devices=[]):
        return by.train(pools, made.pools(4, seed=1) if name in WITH_DEV else (), start=start)


def passages() -> list[Pool]:
    """What sailed may be asked; of every third passage there is no answer."""
    found = []
    for number in range(9):
        ship, cape = SHIPS[number % 4], SHIPS[(number + 1) % 4]
        answers = [] if number % 3 == 2 else [{"text": ship, "answer_start": 4}]
        passage = Candidate(
            f"t-{number}", f"the {ship} {'sailed' if answers else 'round'} the {cape}", len(answers)
        )
        extra = {"title": "t", "paragraph": number, "answers": answers, "is_impossible": not answers}
        found.append(Pool(f"{number}", "quest sailed?", (passage,), extra))
    return found


def scores(name: str) -> list[float]:
    return scores_of(name, taught(name))


def scores_of(name: str, ranker: Ranker) -> list[float]:
    """What a ranker that this trainer has taught says of a few new questions."""
    asked = passages()[:5] if name in ("bidaf", "mini", "span-reader") else made.pools(4, seed=9)
    return flat(ranker.score_pools(asked))


def weights(ranker: Ranker) -> dict[str, bytes]:
    """The bits of everything that a ranker holds when it is saved, by file and name."""
    found = {}
    with tempfile.TemporaryDirectory() as place:
        save(ranker, Path(place) / "saved")
        for file in sorted(Path(place).rglob("*.safetensors")):
            for name, each in sorted(load_file(file).items()):
                found[f"{file.relative_to(place)} {name}"] = each.tobytes()
    return found


def handbook() -> list[Pool]:
    """Questions about the handbook that have an answer in it, that one first."""
    found = []
    for pool in example.pools():
        right = [candidate for candidate in pool.candidates if candidate.label]
        others = [candidate for candidate in pool.candidates if not candidate.label]
        if right:
            found.append(Pool(pool.id, pool.question, (right[0], *others)))
    return found[:16]


def wide() -> str:
    """A file of vectors, 300 wide, for the words of the handbook."""
    words = sorted({word for passage in example.passages() for word in passage.text.lower().split()})
    rows = np.random.default_rng(5).normal(size=(len(words), 300))
    lines = [f"{word} {' '.join(f'{x:.5f}' for x in row)}" for word, row in zip(words, rows, strict=True)]
    path = toys.folder() / "wide.txt"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return str(path)


def _net() -> dict[str, Any]:
    features = made.words()
    return {"features": features, "epochs": 2, "early": "none", "batch": 8}


def _match() -> dict[str, Any]:
    vectors = made.words().removeprefix("words(vectors=").removesuffix(")")
    return {"vectors": vectors, "epochs": 2, "early": "none", "batch": 8}


def _bert(**more: Any) -> dict[str, Any]:
    small = {"base": toys.bert(), "epochs": 1, "tokens": 120, "learning_rate": 1e-3, "max_length": 24}
    return {**small, "freeze_words": False, "precision": "fp32", **more}


def _student() -> str:
    return f"siamese(features='{made.words()}', early=none, epochs=2, batch=8)"


def _spec(name: str, settings: Callable[[], dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    return name, settings()


SPECS: dict[str, Callable[[], tuple[str, dict[str, Any]]]] = {
    **{each: partial(_spec, each, _net) for each in ("concat", "siamese")},
    **{each: partial(_spec, each, _match) for each in toys.MATCHING},
    **{
        each: partial(_spec, each, _bert)
        for each in ("cross-encoder", "curriculum", "debiased", "group-dro", "jtt", "scan")
    },
    "adversarial": lambda: (
        "adversarial",
        {"epochs": 2, "pool": 6, "shown": 2, "take": "all", "early": "none"},
    ),
    "bi-encoder": lambda: ("bi-encoder", _bert()),
    "bidaf": lambda: (
        "bidaf",
        {"wide": 8, "hidden": 6, "filters": 5, "epochs": 1, "max_length": 40, "stride": 12},
    ),
    "confident": lambda: ("confident", {"student": _student(), "folds": 2}),
    "distilled": lambda: ("distilled", _bert(teacher="bm25")),
    "ensemble": lambda: ("ensemble", {"by": _student(), "count": 2, "weights": "uniform"}),
    "joint": lambda: ("joint", _bert(first="length", k=2)),
    "members": lambda: ("members", {"every": 2, "weights": "uniform"}),
    "mini": lambda: ("mini", _bert(base=toys.classifier(), max_length=32, pair=24, stride=8)),
    "self": lambda: ("self", {"teacher": "length", "student": _student(), "signal": "teacher"}),
    "span-reader": lambda: ("span-reader", _bert(max_length=32, stride=8)),
    "support": lambda: ("support", _bert(first="length", k=2, accumulate=1)),
}
STARTS = {"adversarial": "match-pyramid", "members": "adversarial"}
WITH_DEV = ("adversarial", "members")

STEPS = ("curriculum", "debiased", "distilled", "group-dro", "plain", "scan", "support")
STEP = ScoredPairs(
    torch.tensor([1.5, -0.5, 0.3, 2.0, 0.1]),
    torch.tensor([True, False, False, True, False]),
    [2, 3],
    torch.arange(5),
    torch.linspace(-1, 1, 20).view(5, 4).sin(),
)


def objective(name: str) -> list[float]:
    """The loss of one step that was made up, and its gradient by the scores."""
    losses = Loss(), Loss(pointwise=True, smoothing=0.1), Loss(focal=1.0)
    odds = torch.tensor([0.5, -1.0, 0.2, 1.0, -0.3])
    each: dict[str, Callable[[Loss], list[Objective]]] = {
        "curriculum": lambda loss: [
            Curriculum(loss, torch.tensor([0.9, 0.9, 0.3, 0.6, 0.1]), m) for m in (0, 8)
        ],
        "debiased": lambda loss: [Product(loss, odds), Reweighted(loss, odds)],
        "distilled": lambda loss: [Distilling(loss, torch.tensor([0.7, 0.3, 0.2, 0.5, 0.3]), 0.25)],
        "group-dro": lambda loss: [GroupDRO(loss, torch.tensor([0, 1, 1, 0, 2]), 0.1, 0.5)],
        "plain": lambda loss: [Plain(loss)],
        "scan": lambda loss: [ScanObjective(loss, 4, preset, True, True, 0.5) for preset in PRESETS],
        "support": lambda loss: [Supporting(loss, 4, torch.arange(6), torch.tensor([0, 1, 2, 3, -1]), 0.5)],
    }
    found: list[float] = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for loss in losses[1:2] if name == "group-dro" else losses:
            for one in each[name](loss):
                leaf = STEP.scores.clone().requires_grad_()
                seen = ScoredPairs(leaf, STEP.right, STEP.sizes, STEP.pairs, STEP.features)
                value = one(seen)
                (gradient,) = torch.autograd.grad(value, leaf)
                found += [float(value.detach()), *gradient.tolist()]
    return found


def decorrelation() -> list[float]:
    """The weights that each preset learns for features that were made up."""
    rows: list[list[float]] = []
    with torch.random.fork_rng(devices=[]):
        for choices in PRESETS.values():
            torch.manual_seed(0)
            features = torch.randn(12, 4)
            features[:, 1] = features[:, 0] + features[:, 1] / 4
            rows.append(torch.softmax(learnt(features, torch.zeros(12), 6, choices), 0).tolist())
    return flat(rows)


def irgan() -> list[float]:
    right, shown = torch.tensor([[0.5], [0.1]]), torch.tensor([[0.2, 0.6], [-0.4, 0.3]])
    there = torch.tensor([[True, True], [True, False]])
    rewards = [reward(right, shown, 0.4, signed) for signed in (True, False)]
    losses = [hinge(right, shown, there, 0.4, summed).reshape(1, -1) for summed in (True, False)]
    weights = [deserved(rewards[0], there, baseline) for baseline in (True, False)]
    return flat([each.tolist() for each in (*rewards, *losses, *weights, chances(shown, there | True, 0.7))])


def vectors() -> list[float]:
    """The losses of vectors that were made up, and their gradients."""
    rows = torch.linspace(-2, 2, 20).view(5, 4).cos()
    right = torch.tensor([[True, False, False], [False, False, True]])
    found: list[float] = []
    losses: list[Callable[[torch.Tensor], torch.Tensor]] = [
        lambda leaf: contrast(leaf[:2], leaf[2:], right, 0.5),
        lambda leaf: geometry(leaf, rows.flip(1) ** 2, 0.5),
    ]
    for loss in losses:
        leaf = rows.clone().requires_grad_()
        value = loss(leaf)
        (gradient,) = torch.autograd.grad(value, leaf)
        found += [float(value.detach()), *gradient.flatten().tolist()]
    return found


def dan() -> list[float]:
    """What a ranker says that learnt to pass for a person."""
    by = trainer("cnn", **_match(), loss="dan", filters=6, hidden=3)
    with torch.random.fork_rng(devices=[]):
        return scores_of("cnn", by.train(made.pools(10)))


def quick_mpnet() -> list[float]:
    """What a cross-encoder says that was an MPNet, taught without dropout in attention."""
    with torch.random.fork_rng(devices=[]):
        taught = trainer("cross-encoder", **_bert(base=toys.mpnet(), quick=True)).train(made.pools(10))
    return scores_of("cross-encoder", taught)


RUNS: dict[str, Callable[[], list[float]]] = {
    **{f"trainer {name}": partial(scores, name) for name in SPECS},
    **{f"objective {name}": partial(objective, name) for name in STEPS},
    "net quick-mpnet": quick_mpnet,
    "objective dan": dan,
    "objective decorrelation": decorrelation,
    "objective irgan": irgan,
    "objective vectors": vectors,
}
