"""SQuAD 1.1 and 2.0, and the sentences of it, SQuAD-T.

In SQuAD a pool is a question, and its one candidate is the paragraph, positive if it has the answer.

In SQuAD-T the candidates are the sentences of the paragraph. A sentence is positive if it shares a letter or
digit with an answer, found by `answer_start`. So where an answer runs across a boundary (1 question in 1000),
every sentence that it touches is positive; where several people answered (dev), every sentence that one of
them chose. An unanswerable question of 2.0 has no positive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from demur.data import formats
from demur.data.loaders import Loader, Split, shaped
from demur.data.subsets import sample
from demur.sentences import sentences
from demur.types import Candidate, Pool, Span

FITS = 0.0  # an `align_margin` above this: the paragraph fits its questions better than any other does
HELD = 15_000  # of a train split's questions; the official dev is for testing

_QUOTED = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')


def read_pools(path: Path) -> Iterator[Pool]:
    """The pools of a file."""
    return formats.read_pools(path, format="squad")


def read_rebuilt(path: Path) -> Iterator[Pool]:
    """The pools of the rebuilt 2.0 train, with the marks of rebuilding taken off the unanswerable questions.

    1 in 70 is quoted as in CSV and 1 in 20 has spaces around its hyphens; a model could tell them by that.
    """
    for pool in read_pools(path):
        if "align_margin" in pool.extra:
            question = re.sub(r"(?<=\w) - (?=\w)", "-", _unquoted(pool.question))
            yield Pool(pool.id, question, pool.candidates, pool.extra)
        else:
            yield pool


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if _QUOTED.fullmatch(text) else text


def strict(pools: Iterable[Pool]) -> Iterator[Pool]:
    """The questions that are certainly in the published 2.0, with this paragraph.

    Left out: answerable ones not marked `in_v2`, unanswerable ones whose `align_margin` is not above 0.
    """
    for pool in pools:
        if pool.extra.get("in_v2", True) and pool.extra.get("align_margin", FITS + 1) > FITS:
            yield pool


def held(pools: Iterable[Pool]) -> Iterator[Pool]:
    """The 15,000 questions of a train split that are held out, to choose and to calibrate by.

    A sample of all of the split with the same seed draws these first, those of SQuAD-T too: draw from `rest`.
    """
    return sample(pools, HELD)


def rest(pools: Iterable[Pool]) -> Iterator[Pool]:
    """The questions that are not held out, to learn from."""
    every = list(pools)
    out = {pool.id for pool in held(every)}
    return (pool for pool in every if pool.id not in out)


def read_sentences(source: Callable[[Path], Iterator[Pool]], path: Path) -> Iterator[Pool]:
    """One pool of sentences for each question that `source` reads."""
    context, parts = "", list[Span]()
    with shaped(path):
        for pool in source(path):
            paragraph = pool.candidates[0]
            if paragraph.text != context:  # the questions of a paragraph follow each other
                context, parts = paragraph.text, sentences(paragraph.text)
            places = [_place(answer["text"], answer["answer_start"]) for answer in pool.extra["answers"]]
            labels = [int(any(b < part.end and part.start < e for b, e in places)) for part in parts]
            candidates = (
                Candidate(f"{paragraph.id}-{n}", part.text, label)
                for n, (part, label) in enumerate(zip(parts, labels, strict=True))
            )
            yield Pool(pool.id, pool.question, tuple(candidates), pool.extra)


def _place(answer: str, start: int) -> tuple[int, int]:
    """Where an answer begins and ends, without the stops and spaces around it."""
    marks = [n for n, mark in enumerate(answer) if mark.isalnum()]
    return (start + marks[0], start + marks[-1] + 1) if marks else (start, start + len(answer))


LOADER = Loader(
    {
        "1.1/train": Split(read_pools, ("squad/train-v1.1.json.gz",)),
        "1.1/dev": Split(read_pools, ("squad/dev-v1.1.json.gz",)),
        "2.0/train": Split(read_rebuilt, ("squad/train-v2.0.json.gz",)),
        "2.0/dev": Split(read_pools, ("squad/dev-v2.0.json.gz",)),
    },
    {"strict": strict, "held": held, "rest": rest},
)

SENTENCES = Loader(
    {
        split.removeprefix("1.1/"): Split(partial(read_sentences, original.read), original.files)
        for split, original in LOADER.splits.items()
    },
    LOADER.subsets,
)
