"""Where wrong answers are found: those of the question's own pool, and those of all other questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from demur.errors import DataError
from demur.rankers.match_nets.word_numbers import Read, Words
from demur.types import IntArray, Pool

_STRETCH = 16  # batches


def check_labels(pools: Sequence[Pool]) -> None:
    """Raise an error if no answer is right, or there is no other that could be shown as a wrong one."""
    if not any(pool.positives for pool in pools) or len({c.text for p in pools for c in p.candidates}) < 2:
        raise nothing_to_learn()


def nothing_to_learn() -> DataError:
    """The error of pools that teach nothing."""
    fix = "label right answers, and give some wrong ones"
    return DataError("no question has both a right answer and another one", fix=fix)


@dataclass(frozen=True, eq=False)
class Negatives:
    """Right answers with their questions, and what else may be shown, as numbers of texts.

    `known` are all answers that are right for a question, wherever it is asked, and those beside them that
    nobody judged: none of them is ever drawn as a wrong one.
    """

    texts: Sequence[str]
    questions: IntArray  # per right answer
    right: IntArray
    own: Sequence[IntArray]  # per right answer: the wrong ones of its pool
    known: Sequence[IntArray]
    every: IntArray  # all answers

    @classmethod
    def of(cls, pools: Sequence[Pool]) -> Negatives:
        """The judged answers of some pools; unjudged ones are somebody else's answers at most."""
        numbers: dict[str, int] = {}

        def number(text: str) -> int:
            return numbers.setdefault(text, len(numbers))

        right_of: dict[int, set[int]] = {}
        unjudged: dict[int, set[int]] = {}
        for pool in pools:
            right = {number(c.text) for c in pool.candidates if c.label is not None and c.label > 0}
            right_of.setdefault(number(pool.question), set()).update(right)
            unknown = {number(c.text) for c in pool.candidates if c.label is None}
            unjudged.setdefault(number(pool.question), set()).update(unknown)
        examples, own, known = [], [], []
        for pool in pools:
            question = number(pool.question)
            wrong = {number(c.text) for c in pool.candidates if c.label is not None and c.label <= 0}
            wrong -= right_of[question]
            never = right_of[question] | (unjudged[question] - wrong)
            for candidate in pool.candidates:
                if candidate.label is not None and candidate.label > 0:
                    examples.append((question, number(candidate.text)))
                    own.append(np.array(sorted(wrong), np.int64))
                    known.append(np.array(sorted(never), np.int64))
        every = sorted({number(c.text) for pool in pools for c in pool.candidates})
        if not examples or len(every) < 2:
            raise nothing_to_learn()
        both = np.array(examples, np.int64)
        return cls(list(numbers), both[:, 0], both[:, 1], own, known, np.array(every, np.int64))

    def __len__(self) -> int:
        return len(self.right)

    def read(self, words: Words) -> Read:
        """The words of all texts."""
        return words.read(self.texts)

    def drawn(self, example: int, size: int, draws: np.random.Generator, own: bool = True) -> IntArray:
        """At most `size` wrong answers to a question: those of its own pool first, then any others'.

        Without `own`, all are drawn alike.
        """
        first = draws.permutation(self.own[example])[:size] if own else np.empty(0, np.int64)
        missing = size - len(first)
        if not missing:
            return first
        never = np.concatenate([self.known[example], first])
        others = draws.choice(self.every, min(2 * missing + len(never), len(self.every)), replace=False)
        return np.concatenate([first, others[~np.isin(others, never)][:missing]])

    def triplets(
        self, lengths: IntArray, size: int, batch: int, draws: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        """The right answers of an epoch, each as often as there are wrong ones, at most `size`; and these.

        They are shuffled, put in order of length within stretches of some batches, and the batches shuffled.
        """
        found = [self.drawn(example, size, draws) for example in range(len(self))]
        examples = np.repeat(np.arange(len(self)), [len(each) for each in found])
        if not len(examples):
            raise DataError("there are no wrong answers", fix="give more questions, or label wrong answers")
        wrong = np.concatenate(found)
        longest = np.maximum(lengths[self.right[examples]], lengths[wrong])
        order = draws.permutation(len(examples))
        stretch = np.arange(len(order)) // (_STRETCH * batch)
        order = order[np.lexsort((longest[order], stretch))]
        batches = [order[at : at + batch] for at in range(0, len(order), batch)]
        *full, last = batches
        order = np.concatenate([*(full[n] for n in draws.permutation(len(full))), last])
        return examples[order], wrong[order]
