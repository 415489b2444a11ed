"""Sentence-level answer selection made from SQuAD (SQuAD-T): the sentence with the answer is positive.

A sentence is positive if it shares a letter or digit with an answer, found by `answer_start`. So where an
answer runs across a boundary (1 question in 1000), every sentence that it touches is positive; where several
people answered (dev), every sentence that one of them chose. An unanswerable question of 2.0 has no positive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from demur.data import datasets
from demur.data.loaders import squad
from demur.data.loaders.base import Loader, Split, shaped
from demur.sentences import sentences
from demur.types import Candidate, Pool, Span


def stream(split: str = "train", sample: int | None = None, seed: int = 0) -> Iterator[Pool]:
    """The pools of a split (train, dev, 2.0/train, 2.0/dev), or a seeded sample of them, in their order."""
    return datasets.stream(f"squad-t/{split}" + ("" if sample is None else f"/sample-{sample}-seed-{seed}"))


def read(source: Callable[[Path], Iterator[Pool]], path: Path) -> Iterator[Pool]:
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
        split.removeprefix("1.1/"): Split(partial(read, original.read), original.files)
        for split, original in squad.LOADER.splits.items()
    },
    squad.LOADER.subsets,
)
