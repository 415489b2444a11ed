"""What `tools.make_chance` learns from and is tested on: the signals of candidates of labelled questions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import demur
from demur.asking import chance
from demur.asking.library import Library
from demur.data import pools
from demur.data.subsets import sample
from demur.embedders.encoder import Encoder
from demur.embedders.kept import kept
from demur.kb.passages import Passage
from demur.rankers.cosine import pairwise
from demur.reading.mini import Mini
from demur.types import FloatArray, Pool

LEARN = {"wikiqa/dev": 130, "trecqa/dev": 80, "selqa/dev": 120, "antique/dev": 120, "semeval2016/dev": 120}
TEST = {"wikiqa/test": 150, "trecqa/test": 68, "selqa/test": 120, "antique/test": 80, "semeval2016/test": 120}
TEST |= {"covidfaq/test": 250, "fiqa/test": 60}
DEPTH = 24  # candidates of a pool that are looked at: those nearest by words and by meaning


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
        arrays = {f"table{n}": each.table for n, each in enumerate(found)}
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
    least = 3 if name.startswith("antique") else 1
    answers = {}
    if name == "covidfaq/test":
        answers = {each.id: each.text for each in next(iter(pools("covidfaq/test/answers-only"))).candidates}
    embedder, mini = kept(Encoder("packaged")), Mini()
    libraries: dict[tuple[str, ...], Library] = {}
    for pool in chosen:
        texts = tuple(pool.answers)
        if texts not in libraries:
            libraries.clear()
            libraries[texts] = Library([_passage(each.id, each.text, answers) for each in pool.candidates])
        yield _signals(pool, libraries[texts], embedder, mini, least)


def _passage(id: str, text: str, answers: dict[str, str]) -> Passage:
    """The candidate as a passage; the questions of an FAQ stand above its answer."""
    answer = answers.get(id, text)
    return Passage(
        id, answer, heading=text.removesuffix(answer).strip(), question=text.removesuffix(answer).strip()
    )


def _signals(pool: Pool, library: Library, embedder: object, mini: Mini, least: int) -> Seen:
    from demur.asking.finding import find

    right = {each.text for each in pool.candidates if (each.label or 0) >= least}
    right |= {text for text in right for text in [text.strip()]}
    found = find(library, pool.question, DEPTH)
    passages = [library.passage(place) for place in found.places.tolist()]
    looks = mini.look(pool.question, [each.searched for each in passages])
    table = chance.read(
        found.signals, np.array([each.score for each in looks]), np.array([each.confidence for each in looks])
    )
    labels = np.array([float(each.searched in right or each.text in right) for each in passages])
    return Seen(table, labels, len(right))


__all__ = ["LEARN", "TEST", "Seen", "demur", "pairwise", "seen"]
