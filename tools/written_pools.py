"""Pools to train on, of the handbooks that were written for this (`python -m tools.written_pools`).

Of each question that is answered: its paragraph with the words that answer, the nearest others as passages
that do not, and all of these to rank. Of the others: the nearest paragraphs, none of which answers.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import demur
from demur.data.formats import write_pools
from demur.types import Candidate, Pool
from tools.written import WRITTEN_BOOKS, written

PLACE = Path(__file__).resolve().parents[1] / "build" / "handbooks.jsonl"
WRONG, NEAR, BESIDE = 2, 3, 7  # paragraphs that do not answer: read of each kind of question, and ranked


def taught(part: str) -> Iterator[Pool]:
    """The pools of one part of the handbooks, as a network that ranks and reads learns from them."""
    ranker = demur.ranker("encoder")
    for pool, library in written(f"{WRITTEN_BOOKS}{part}"):
        texts = [library.passage(place).searched for place in range(len(library))]
        right = {each.text for each in pool.candidates}
        nearest = np.argsort(-np.array(ranker.score(pool.question, texts)), kind="stable")
        others = [texts[place] for place in nearest if texts[place] not in right]
        quote = pool.extra["quote"]
        for number, text in enumerate(others[: WRONG if quote else NEAR]):
            yield _read(pool, f"{pool.id}-{number}", text, [])
        if quote:
            text = next(each for each in texts if each in right)
            yield _read(pool, pool.id, text, [{"text": quote, "answer_start": text.rindex(quote)}])
            some = [(text, 1), *((other, 0) for other in others[:BESIDE])]
            candidates = [Candidate(str(number), *each) for number, each in enumerate(some)]
            yield Pool(f"{pool.id}-ranked", pool.question, tuple(candidates))


def _read(pool: Pool, id: str, text: str, answers: list[dict[str, object]]) -> Pool:
    """A question to one paragraph, as SQuAD has it."""
    book = f"handbook {pool.id.rpartition('-')[0]}"
    extra = {"answers": answers, "title": book, "is_impossible": not answers}
    return Pool(id, pool.question, (Candidate("0", text, int(bool(answers))),), extra)


def main() -> None:
    """Write those to learn from."""
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("-o", "--output", type=Path, default=PLACE)
    place = said.parse_args().output
    place.parent.mkdir(parents=True, exist_ok=True)
    print(write_pools(place, taught("learn")), place)


if __name__ == "__main__":
    main()
