"""SCAN beside the plain cross-encoder: what a training step of 140 pairs costs, on one processor or GPU."""

from __future__ import annotations

import os
from collections.abc import Callable

import torch

from bench.common import Row, seconds_once, sentences
from demur import data
from demur.embedders.encoders.loading import device_named
from demur.nets.transformers.cross_encoder import freeze_words, score
from demur.nets.transformers.features import caught
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder
from demur.rankers.cross_encoders.pairs import tokenised
from demur.training.objectives.base import Objective, Plain, ScoredPairs
from demur.training.objectives.pool_losses import Loss
from demur.training.objectives.scan import ScanObjective
from demur.types import Pool

BATCH, LONGEST, TURNS, GOAL = 140, 64, 3, 1.25


def pools() -> list[Pool]:
    """Pools of 14 pairs or so: WikiQA's, or made-up ones."""
    if os.environ.get("DEMUR_DATA"):
        return list(data.pools("wikiqa/train")[:40])
    texts = sentences(15 * 10, 25)
    return [Pool.of(texts[n * 15][:40], texts[n * 15 + 1 : n * 15 + 15], id=str(n)) for n in range(10)]


def stepping(objective: Objective) -> Callable[[], None]:
    """One step of training, to be taken again and again."""
    device = device_named("auto")
    network, tokenizer = CrossEncoder(model="minilm").fresh()
    freeze_words(network)
    network.to(device).train()
    objective.to(device)
    batch = tokenised(tokenizer, pools(), LONGEST).batch(list(range(BATCH)), device)
    right = torch.arange(BATCH, device=device) % 4 == 0
    weights = [w for w in (*network.parameters(), *objective.parameters()) if w.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=1e-6, fused=True)

    def step() -> None:
        optimiser.zero_grad()
        with torch.autocast(device, torch.bfloat16), caught(network, objective.wants) as held:
            scores = score(network, batch)
            places = torch.arange(BATCH, device=device)
            loss = objective(
                ScoredPairs(scores, right, [4] * (BATCH // 4), places, held[0] if held else None)
            )
        loss.backward()  # type: ignore[no-untyped-call]  # torch says no type here
        optimiser.step()
        loss.item()

    return step


def run() -> list[Row]:
    """All rows."""
    loss = Loss(pointwise=True)
    plain = stepping(Plain(loss))
    rows = []
    for preset in ("fixed", "code"):
        ours = stepping(ScanObjective(loss, 384, preset, True, True, 1.0))
        plain(), ours()
        pairs = [(seconds_once(plain), seconds_once(ours)) for _ in range(TURNS)]
        one, other = (sorted(times)[TURNS // 2] for times in zip(*pairs, strict=True))
        what = f"a step of scan(preset={preset}), {BATCH} pairs, plain {one:.2f} s"
        goal, met = (f"<= {GOAL}x", other <= GOAL * one) if preset == "fixed" else ("–", True)
        rows.append(Row(what=what, found=f"{other / one:.2f}x", goal=goal, met=met))
    return rows
