"""Measures what SCAN's weights do to features of real pairs, and the most that any weights could do.

`python -m tools.decorrelation` wants WikiQA and MiniLM, takes a few minutes, keeps what it finds in
results/scan/decorrelation.json, and writes the page about it.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from demur import data
from demur.files import replacing
from demur.nets.transformers.cross_encoder import score
from demur.nets.transformers.features import caught
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder
from demur.rankers.cross_encoders.pairs import tokenised
from demur.training.cross_encoders.scan import Scan
from demur.training.objectives.decorrelation import PRESETS, Dependence, averaged, learnt
from demur.training.objectives.reweighting import Reweighting

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "results" / "scan" / "decorrelation.json"
DATA = "wikiqa/train/answerable"
SEED, STEPS, TRAINED = 0, 20, 10
FIXED = PRESETS["fixed"]
SIZES = (60, 200, 1000)
KINDS = ("all", "64 mixed", "24 mixed", "8 mixed")
PENALTIES, LONG = (3.0, 0.0), 100
AIM, LEAST = 0.3, 0.6  # by how much dependence should fall, and what share of the pairs must count then
INTRODUCTION = """# Decorrelation, measured

SCAN weighs the pairs of a step so that features depend less on each other. Here that is measured on what
MiniLM says of WikiQA's training pairs at the first token: {width} features of {pairs:,} pairs, in the steps
in which `scan` takes them. The aim is a fall of {aim}, and weights worth at least {least} of the pairs.

## As trained

Dependence is that of functions drawn afresh, without weights and with those learnt, over {steps} steps; for
`fixed` it is that of a step and the queue. *Effective* is the share of the pairs that the weights are worth.

{trained}

## The most that weights could do

`fixed`'s own objective, but {long} inner steps in place of {inner}; with a penalty of 0 nothing holds the
weights back. *Mixed* features are random projections: so few that few pairs can make them independent.
*Falls* is of the features that weights were learnt for, *all fall* of all {width}. *Chance* is the share of
the dependence that stays when each feature is shuffled for itself.

{reachable}

With all features none that are found come near the aim, however many pairs there are: they cut dependence by
{most} at most. Weights are a few hundred numbers, and there are {count:,} pairs of features; {chance} of what
is measured is chance, which uneven weights only raise, until hardly a pair counts (one alone depends on
nothing). For few mixed features the aim is met; all features together then depend on each other much as
before, or more. So `fixed` keeps all of them, and comes near the best possible. A warning says so
where weights do nothing, or harm.
"""


@dataclass(frozen=True)
class Reached:
    """What weights learnt for some features came to."""

    features: str
    pairs: int
    penalty: float
    chance: float
    fall: float
    all_fall: float
    effective: float


def steps() -> list[Tensor]:
    """What MiniLM says of the pairs of the first steps of an epoch: pairs × width each."""
    trainer = Scan(negatives=4)
    sampled = (trainer._sampled(pool) for pool in data.pools(DATA))
    taught = [pool for pool in sampled if pool is not None]
    sizes = [len(pool) for pool in taught]
    ends = np.cumsum([0, *sizes])
    network, tokenizer = CrossEncoder(model="minilm").fresh()
    pairs = tokenised(tokenizer, taught, trainer.max_length)
    longest = np.array([pairs.lengths[a:b].max() for a, b in itertools.pairwise(ends)])
    found = []
    with torch.inference_mode(), caught(network.eval(), "first") as held:
        for step in itertools.islice(trainer._steps(longest, sizes, 0), STEPS):
            chosen = [pair for pool in step for pair in range(ends[pool], ends[pool + 1])]
            score(network, pairs.batch(chosen))
            found.append(held[0].clone())
    return found


def trained(batches: Sequence[Tensor], preset: str) -> dict[str, float]:
    """What the weights of a preset do, as `scan` learns them step by step."""
    torch.manual_seed(SEED)
    reweighting = Reweighting(batches[0].shape[1], PRESETS[preset], every=1)
    for batch in batches:
        reweighting(batch)
    return reweighting.told()


def reachable(features: Tensor) -> Iterator[Reached]:
    """What weights could do for all features, or for a few mixed ones, of more or less pairs."""
    for pairs, kind in itertools.product(SIZES, KINDS):
        rows = features[:pairs]
        draws = torch.Generator().manual_seed(SEED)
        few = rows
        if kind != "all":
            width = int(kind.partition(" ")[0])
            few = rows @ torch.randn(rows.shape[1], width, generator=draws)
        shuffled = torch.stack([each[torch.randperm(len(rows), generator=draws)] for each in few.T], 1)
        own, every = _dependence(few), _dependence(rows)
        even = torch.full((len(rows),), 1 / len(rows))
        for penalty in PENALTIES:
            choices = replace(FIXED, steps=LONG, penalty=penalty)
            weights = torch.softmax(learnt(few, torch.zeros(len(rows)), len(rows), choices), 0)
            yield Reached(
                kind,
                len(rows),
                penalty,
                float(_dependence(shuffled)(even) / own(even)),
                float(1 - own(weights) / own(even)),
                float(1 - every(weights) / every(even)),
                float(1 / (len(rows) * weights.square().sum())),
            )


def _dependence(rows: Tensor) -> Dependence:
    """The dependence under any weights, as the mean over all draws of functions."""
    return Dependence(averaged(rows, FIXED)[None], FIXED)


def faults(found: Sequence[Reached]) -> list[str]:
    """What the page says and what was measured does not."""
    for_all = [each for each in found if each.features == "all"]
    few = [each for each in found if each.features != "all" and each.pairs >= SIZES[1] and each.penalty]
    met = [each for each in few if each.fall >= AIM and each.effective >= LEAST]
    said = {
        "with all features the aim is not reached": all(each.fall < AIM for each in for_all),
        "24 mixed features reach it": {"24 mixed"} <= {each.features for each in met},
        "all features gain nothing by that": all(each.all_fall < 0.05 for each in met),
    }
    return [claim for claim, holds in said.items() if not holds]


def kept() -> dict[str, Any]:
    """What was measured last."""
    found: dict[str, Any] = json.loads(RESULT.read_text("utf-8"))
    return found | {"reachable": [Reached(**each) for each in found["reachable"]]}


def page() -> str:
    """`docs/decorrelation.md`, from what was kept."""
    found = kept()
    about, reached = found["about"], found["reachable"]
    told = [
        f"| `{preset}` | {each['dependence_fall']:.1%} | {each['effective']:.1%} | {each['spread']:.2g} |"
        for preset, each in found["trained"].items()
    ]
    rows = [
        f"| {each.pairs:,} | {each.features} | {each.penalty:g} | "
        + " | ".join(map(_share, (each.fall, each.all_fall, each.effective, each.chance)))
        + " |"
        for each in reached
    ]
    width, chances = about["width"], [each.chance for each in reached if each.features == "all"]
    said = INTRODUCTION.format(
        **{name: about[name] for name in ("width", "pairs", "steps")},
        count=width * (width - 1) // 2,
        chance=f"{_share(min(chances))} to {_share(max(chances))}",
        most=_share(max(each.fall for each in reached if each.features == "all")),
        aim=_share(AIM),
        least=_share(LEAST),
        long=LONG,
        inner=FIXED.steps,
        trained="\n".join(["| preset | falls | effective | spread |", "|---|---|---|---|", *told]),
        reachable="\n".join(
            [
                "| pairs | features | penalty | falls | all fall | effective | chance |",
                "|" + "---|" * 7,
                *rows,
            ]
        ),
    )
    return f"<!-- Written by `python -m tools.decorrelation`. Do not edit by hand. -->\n\n{said}"


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"


def main() -> int:
    """Measure everything, keep it and write the page."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"], cwd=ROOT, capture_output=True, text=True
    )
    batches = steps()
    features = torch.cat(batches)
    about = {
        "data": "wikiqa/train/answerable",
        "seed": SEED,
        "commit": commit.stdout.strip(),
        "steps": TRAINED,
    }
    about |= {"torch": torch.__version__, "width": features.shape[1], "pairs": len(features)}
    found: dict[str, Any] = {"about": about, "trained": {}, "reachable": []}
    for preset in PRESETS:
        found["trained"][preset] = trained(batches[:TRAINED], preset)
        print(preset, found["trained"][preset], flush=True)
    for each in reachable(features):
        found["reachable"].append(asdict(each))
        print(each, flush=True)
    with replacing(RESULT) as file:
        file.write(json.dumps(found, indent=1) + "\n")
    (ROOT / "docs" / "decorrelation.md").write_text(page(), "utf-8")
    wrong = faults(kept()["reachable"])
    print("\n".join(f"no longer so: {claim}" for claim in wrong) or "all that the page says is so")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
