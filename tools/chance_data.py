"""What `tools.make_chance` learns from and is tested on: the signals of candidates of labelled questions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from demur.asking import chance
from demur.asking.finding import find
from demur.asking.library import Library
from demur.data import pools
from demur.data.subsets import sample
from demur.kb.passages import Passage
from demur.reading.mini import Mini
from demur.types import FloatArray, Pool

LEARN = {"wikiqa/dev": 130, "trecqa/dev": 80, "selqa/dev": 120, "antique/dev": 40, "semeval2016/dev": 80}
TEST = {"wikiqa/test": 80, "trecqa/test": 40, "semeval2016/test": 40, "selqa/test": 60, "covidfaq/test": 30}
"""So many questions are drawn of each: reading them all takes hours on a small machine."""
DEPTH = 24  # candidates of a pool that are looked at: those nearest by words and by meaning
LARGE = {
    "covidfaq/test": 12,
    "antique/test": 12,
    "fiqa/test": 12,
}
"""Where many are found, only as many as `ask` reads."""


@dataclass(frozen=True)
class Seen:
    """The candidates of a question: signals, labels, and BM25's, the encoder's and mini's scores."""

    table: FloatArray
    right: FloatArray
    positives: int  # also those that were not found


def seen(name: str, count: int, cache: Path) -> list[Seen]:
    """The questions of a set with a right answer; kept in a folder, as reading takes minutes."""
    file = cache / f"{name.replace('/', '-')}-{count}.npz"
    if not file.is_file():
        found = list(_seen(name, count))
        cache.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {f"table{n}": each.table for n, each in enumerate(found)}
        arrays |= {f"right{n}": each.right for n, each in enumerate(found)}
        np.savez(file, positives=np.array([each.positives for each in found]), **arrays)
        print(name, len(found), file=sys.stderr, flush=True)
    kept_there = np.load(file, allow_pickle=False)
    return [
        Seen(kept_there[f"table{n}"], kept_there[f"right{n}"], int(positives))
        for n, positives in enumerate(kept_there["positives"])
    ]


def _seen(name: str, count: int) -> Iterator[Seen]:
    chosen = [pool for pool in sample(pools(name), count) if pool.positives > 0]
    answers = {}
    if name == "covidfaq/test":
        answers = {each.id: each.text for each in next(iter(pools("covidfaq/test/answers-only"))).candidates}
    mini = Mini()
    libraries: dict[tuple[str, ...], Library] = {}
    for pool in chosen:
        texts = tuple(pool.answers)
        if texts not in libraries:
            libraries.clear()
            libraries[texts] = Library([_passage(each.id, each.text, answers) for each in pool.candidates])
        yield _signals(pool, libraries[texts], mini, LARGE.get(name, DEPTH))


def _passage(id: str, text: str, answers: dict[str, str]) -> Passage:
    """The candidate as a passage; the questions of an FAQ stand above its answer."""
    answer = answers.get(id, text)
    return Passage(
        id, answer, heading=text.removesuffix(answer).strip(), question=text.removesuffix(answer).strip()
    )


def _signals(pool: Pool, library: Library, mini: Mini, depth: int) -> Seen:
    right = {each.text.strip() for each in pool.candidates if (each.label or 0) >= 1}
    found = find(library, pool.question, depth)
    passages = [library.passage(place) for place in found.places.tolist()]
    looks = mini.look(pool.question, [each.searched for each in passages])
    scores, sure = (np.array([getattr(each, name) for each in looks]) for name in ("score", "confidence"))
    table = chance.read(found.signals, scores, sure)
    labels = np.array(
        [float(each.searched.strip() in right or each.text.strip() in right) for each in passages]
    )
    return Seen(table, labels, len(right))
