"""Small nets: an epoch over as many pairs as WikiQA has, and a grid of learning curves on WikiQA itself."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import torch

import demur
from bench.common import Row, below, seconds_once
from demur.data import pools
from demur.embedders import embedder
from demur.nets.small.concat import Concat
from demur.nets.small.siamese import Siamese
from demur.training import trainer
from demur.training.small_nets.examples import Examples, Labelled, Pairs, Triplets, vectors_of
from demur.training.small_nets.loop import Schedule, train_net

WIDTH = 384
SPLITS = {"train/answerable": (873, 8672, 1040), "train": (2118, 20360, 1040)}  # pools, pairs, right answers
SIZES, REPEATS, PROCESSES = (4, 8, 16, 32, 64, 128, 256, 512), 10, 2
NETS = [f"{net}(loss={loss})" for net in ("siamese", "concat") for loss in ("pointwise", "pairwise")]


def run() -> list[Row]:
    """All rows."""
    rows = [
        epoch(split, net, loss) for split in SPLITS for net in (Siamese, Concat) for loss in (Pairs, Triplets)
    ]
    return rows + (grid() if os.environ.get("DEMUR_DATA") else [])


def epoch(split: str, kind: type[Siamese] | type[Concat], loss: type[Examples]) -> Row:
    """One epoch in this process, over made-up vectors."""
    pools, pairs, right = SPLITS[split]
    rng = np.random.default_rng(0)
    of = np.sort(np.concatenate([np.arange(pools), rng.integers(0, pools, pairs - pools)]))
    labels = np.zeros(pairs, np.int64)
    labels[rng.choice(pairs, right, replace=False)] = 1
    vectors = torch.nn.functional.normalize(torch.randn(pairs + pools, WIDTH))
    data = Labelled(vectors, pairs + of, np.arange(pairs), labels, of)
    examples = Pairs(data) if loss is Pairs else Triplets(data, margin=0.01)
    schedule = Schedule(1, 32, 1e-3, seed=0, patience=5, min_delta=1e-4)
    taken = seconds_once(lambda: train_net(kind(WIDTH), examples, None, schedule))
    seen = f"{len(examples):,} {examples.unit} of wikiqa/{split}"
    what = f"{kind.__name__}, {seen}, {torch.get_num_threads()} threads"
    return below(f"an epoch of {what}", taken, 3)


def grid() -> list[Row]:
    """A tenth of a grid: one repeat of all sizes and nets; each run is scored on the test set."""
    splits = [pools(f"wikiqa/{name}/answerable") for name in ("train", "dev", "test")]
    texts = {text for pools in splits for pool in pools for text in (pool.question, *pool.answers)}
    vectors_of(sorted(texts), embedder("encoder"))  # so that all find them on the disk
    tasks = [(net, size) for size in reversed(SIZES) for net in reversed(NETS)]  # the longest first
    with ProcessPoolExecutor(
        PROCESSES, get_context("spawn"), initializer=torch.set_num_threads, initargs=(1,)
    ) as pool:
        list(pool.map(_one, [(net, SIZES[0]) for net in NETS]))  # processes are up, modules loaded
        taken = seconds_once(lambda: list(pool.map(_one, tasks)))
    what = (
        f"learning curves: {len(SIZES)} sizes x {REPEATS} repeats x {len(NETS)} nets, {PROCESSES} processes"
    )
    return [below(f"{what} (a tenth, times ten)", taken * REPEATS, 600)]


def _one(task: tuple[str, int]) -> float:
    net, size = task
    train, dev = (pools(f"wikiqa/{split}/answerable/sample-{size}") for split in ("train", "dev"))
    ranker = trainer(net, margin=0.01).train(train, dev)
    return demur.evaluate(ranker, pools("wikiqa/test/answerable"), "MAP").measures["MAP"].mean


if __name__ == "__main__":
    for row in run():
        print(row["what"], row["found"], "goal", row["goal"], "" if row["met"] else "MISSED")
