"""Pools of what was written for this project, to train on (`python -m tools.written_pools`).

For `mini`, of each question to a handbook that is answered: its paragraph with the words that answer, the
nearest others as passages that do not, and all of these to rank. Of the others: the nearest paragraphs, none
of which answers. For the encoder, those to rank; and the rows of FAQs, of which one is asked in other words.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import demur
from demur.asking.library import Library
from demur.data.formats import write_pools
from demur.rankers import Ranker
from demur.types import Candidate, Pool
from tools.written import WRITTEN_BOOKS, WRITTEN_FAQS, written

PLACE = Path(__file__).resolve().parents[1] / "build" / "handbooks.jsonl"
RANKED = PLACE.with_name("written-ranked.jsonl")
LEARN = "learn"
MADE = PLACE, RANKED
WRONG, NEAR, BESIDE = 2, 3, 7  # paragraphs that do not answer: read of each kind of question, and ranked
FOUND = 12  # paragraphs that `ask` reads


def taught(part: str) -> Iterator[Pool]:
    """The pools of one part of the handbooks, as a network that ranks and reads learns from them."""
    ranker = demur.ranker("encoder")
    for pool, library in written(f"{WRITTEN_BOOKS}{part}"):
        texts = _nearest(ranker, pool, _searched(library))
        right = {each.text for each in pool.candidates}
        others = [text for text in texts if text not in right]
        quote = pool.extra["quote"]
        for number, text in enumerate(others[: WRONG if quote else NEAR]):
            yield _read(pool, f"{pool.id}-{number}", text, [])
        if quote:
            text = next(each for each in texts if each in right)
            yield _read(pool, pool.id, text, [{"text": quote, "answer_start": text.rindex(quote)}])
            yield _ranked(pool, [text], others)


def to_rank(part: str) -> Iterator[Pool]:
    """The pools of one part of the handbooks and FAQs, as an encoder learns from them."""
    ranker = demur.ranker("encoder")
    yield from (pool for pool in taught(part) if len(pool) > 1)
    for pool, library in written(f"{WRITTEN_FAQS}{part}"):
        if pool.positives:
            right = {each.text for each in pool.candidates}
            passages = [library.passage(place) for place in range(len(library))]
            rows = [each for each in passages if each.searched in right]
            others = _nearest(ranker, pool, [each.question for each in passages if each not in rows])
            yield _ranked(pool, [each.question for each in rows], others)


def _ranked(pool: Pool, right: list[str], others: list[str]) -> Pool:
    """What answers, and the nearest others."""
    some = [*((text, 1) for text in right), *((other, 0) for other in others[:BESIDE])]
    candidates = [Candidate(str(number), *each) for number, each in enumerate(some)]
    return Pool(f"{pool.id}-ranked", pool.question, tuple(candidates))


def asked(part: str) -> Iterator[Pool]:
    """What is asked of one part of the handbooks, with the paragraphs that are nearest."""
    ranker = demur.ranker("encoder")
    for pool, library in written(f"{WRITTEN_BOOKS}{part}"):
        right, quote = {each.text for each in pool.candidates}, pool.extra["quote"]
        some = [(text, int(text in right)) for text in _nearest(ranker, pool, _searched(library))[:FOUND]]
        candidates = [Candidate(str(number), *each) for number, each in enumerate(some)]
        answers = [{"text": quote, "answer_start": 0}] if quote else []
        yield Pool(pool.id, pool.question, tuple(candidates), {"answers": answers})


def _searched(library: Library) -> list[str]:
    return [library.passage(place).searched for place in range(len(library))]


def _nearest(ranker: Ranker, pool: Pool, texts: list[str]) -> list[str]:
    """The texts, those nearest to the question first."""
    order = np.argsort(-np.array(ranker.score(pool.question, texts)), kind="stable")
    return [texts[place] for place in order]


def _read(pool: Pool, id: str, text: str, answers: list[dict[str, object]]) -> Pool:
    """A question to one paragraph, as SQuAD has it."""
    book = f"handbook {pool.id.rpartition('-')[0]}"
    extra = {"answers": answers, "title": book, "is_impossible": not answers}
    return Pool(id, pool.question, (Candidate("0", text, int(bool(answers))),), extra)


def make() -> None:
    """Write those to learn from, where they are not there yet."""
    PLACE.parent.mkdir(parents=True, exist_ok=True)
    for place, found in zip(MADE, (taught(LEARN), to_rank(LEARN)), strict=True):
        if not place.is_file():
            print(write_pools(place, found), place)


def main() -> None:
    """Write those to learn from."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    for place in MADE:
        place.unlink(missing_ok=True)
    make()


if __name__ == "__main__":
    main()
