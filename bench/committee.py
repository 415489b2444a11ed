"""Nets that match words: pairs a second at 40 words, what a committee of N costs, and what a table takes."""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch

from bench.common import Row, seconds_once, sentences
from demur.embedders.word_vectors.table_formats import write_table
from demur.embedders.word_vectors.tables import Table
from demur.experiments.models.cached_models import pools_of
from demur.nets.matching.match_net import Worded
from demur.rankers.base import Ranker
from demur.rankers.ensembles.committee import Committee
from demur.rankers.match_nets.match_nets import DeepMatching, Match, MatchPyramid, Multihop, Trained
from demur.rankers.match_nets.word_numbers import Lexicon
from demur.text import tokenize
from demur.training import trainer
from demur.types import Pool

WIDE, WORDS, POOLS, SIZE, MEMBERS, TURNS = 300, 40, 40, 25, 5, 3
SEEDS, EPOCHS = 5, (15, 12)  # of the base at most, and of the two nets
COLUMNS = ("wikiqa/train/answerable", "wikiqa/dev/clean"), ("trecqa/train", "trecqa/dev/clean")
GOALS = {MatchPyramid: 3000, DeepMatching: 0, Multihop: 1000}


def pools() -> list[Pool]:
    """Pools of 25 answers of 40 words, and questions of 10."""
    texts = sentences(POOLS * (SIZE + 1), 3 * WORDS)
    cut = [" ".join(tokenize(text)[:WORDS]) for text in texts]
    return [
        Pool.of(" ".join(cut[at].split()[:10]), cut[at + 1 : at + SIZE + 1], id=str(at))
        for at in range(0, len(cut), SIZE + 1)
    ]


def nets(kind: type[Match], words: Lexicon, count: int) -> list[Match]:
    """So many nets of a kind, whose weights are drawn."""
    made = []
    for seed in range(count):
        torch.manual_seed(seed)
        network = Worded(kind.net(wide=words.width), torch.from_numpy(words.matrix))
        made.append(kind.of(Trained(network, words)))
    return made


def turns(members: list[Match], asked: list[Pool]) -> list[tuple[float, float, float]]:
    """Seconds of one member, of all of them one after the other, and of the committee; turn by turn."""
    one, voting = members[0], Committee.of(members)
    one.score_pools(asked)
    return [
        (
            seconds_once(lambda: one.score_pools(asked)),
            seconds_once(lambda: voting.united([member.score_pools(asked) for member in members])),
            seconds_once(lambda: voting.score_pools(asked)),
        )
        for _ in range(TURNS)
    ]


def costs(what: str, found: float, share: float) -> Row:
    """A row for what a committee costs in passes of one member, of which it has so many."""
    most = share * MEMBERS
    return Row(what=what, found=f"{found:.2f}", goal=f"<= {most:.1f}", met=found <= most)


def table() -> list[Row]:
    """What nine rows of the committee's Table 1 take on two datasets, told from an epoch of each stage.

    It errs on the high side: training may end sooner, and what is done once is counted in each epoch.
    """
    if not os.environ.get("DEMUR_DATA"):
        return []
    threads, whole = torch.get_num_threads(), 0.0
    torch.set_num_threads(1)  # as each process of demur reproduce has
    try:
        with tempfile.TemporaryDirectory() as folder:
            for train, dev in COLUMNS:
                pools, judged = pools_of(train), pools_of(dev)
                known = sorted({word for pool in pools for text in pool.answers for word in tokenize(text)})
                drawn = np.random.default_rng(0).normal(size=(len(known), WIDE)).astype(np.float32)
                file = Path(folder) / "vectors.safetensors"
                write_table(file, Table(known, drawn))
                for kind in GOALS:
                    base = trainer(kind.name, vectors=str(file), epochs=1)
                    spent, start = taken(partial(base.train, pools, judged))
                    whole += EPOCHS[0] * spent
                    state = trainer("adversarial", take="all", pool=16, strangers=True, epochs=1)
                    spent, _ = taken(partial(state.train, pools, judged, start=start))
                    whole += EPOCHS[1] * spent
    finally:
        torch.set_num_threads(threads)
    minutes = whole * SEEDS / 2 / 60
    what = f"Table 1 on WikiQA and TrecQA, {SEEDS} seeds in 2 processes, at most, by an epoch of each stage"
    return [Row(what=what, found=f"{minutes:.0f} min", goal="<= 60 min", met=minutes <= 60)]


def taken(action: Callable[[], Ranker]) -> tuple[float, Ranker]:
    """The time of an action, and what it came to."""
    found: list[Ranker] = []
    return seconds_once(lambda: found.append(action())), found[0]


def run() -> list[Row]:
    """All rows."""
    asked = pools()
    known = sorted({word for pool in asked for text in pool.answers for word in tokenize(text)})
    vectors = np.random.default_rng(0).normal(size=(len(known), WIDE)).astype(np.float32)
    words = Lexicon.of(Table(known, vectors), [])
    pairs = sum(map(len, asked))
    rows = []
    for kind, goal in GOALS.items():
        members = nets(kind, words, MEMBERS)
        times = list(zip(*turns(members, asked), strict=True))
        single, apart, united = (statistics.median(each) for each in times)
        found = pairs / single
        rows.append(
            Row(
                what=f"{kind.name}, answers of {WORDS} words, {torch.get_num_threads()} threads",
                found=f"{found:,.0f} pairs/s",
                goal=f">= {goal:,} pairs/s" if goal else "–",
                met=found >= goal,
            )
        )
        rows += [
            costs(f"a committee of {MEMBERS} {kind.name}, each apart, in single passes", apart / single, 1.1),
            costs(f"a committee of {MEMBERS} {kind.name}, in single passes", united / single, 1.0),
        ]
    return rows + table()
