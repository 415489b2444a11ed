"""Texts that come with the request: ranked as `demur rank` does, judged by the gate, and quoted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from demur import runtime
from demur.asking import packaged
from demur.asking.gates.gate import NONE, Gate, find_gate, is_for_files, ranker_of
from demur.asking.library import AS_FOUND, second_ranker
from demur.asking.packaged import MEANING
from demur.asking.reading import check_quotes, reader_for
from demur.errors import UsageError
from demur.rankers import Ranker
from demur.serving.answering.reads import Read, read_texts
from demur.serving.answering.together import Waiting
from demur.types import Candidate, Pool, Ranking, Verdict

_TOGETHER = 256  # texts between two looks at whether anybody still waits


@dataclass(frozen=True)
class Given:
    """Ranker, reader and gate for given texts, opened once."""

    ranker: Ranker
    reader: object | None = None
    gate: Gate | None = None

    @classmethod
    def open(
        cls,
        ranker: str | Path | None = None,
        gate: str | Path | None = None,
        reader: str | Path | None = None,
        risk: float | None = None,
    ) -> Given:
        """What ranks given texts; a gate for questions to files says nothing about them and is left out.

        The ranker ``meaning`` finds passages. Given texts are found already: the packaged model ranks them.
        """
        if ranker == MEANING or (ranker is None and gate in (None, NONE)):
            ranker = packaged.NAME if packaged.there() else AS_FOUND[0]
        found = find_gate(gate, ranker, risk=risk)
        if found is not None and is_for_files(found):
            found = None
        if ranker is None:
            ranker = AS_FOUND[0] if found is None else ranker_of(found)
        built = second_ranker(AS_FOUND[0] if str(ranker) == NONE else ranker)
        quoting = reader_for(reader, built)
        if found is not None:
            found.check_ranker(built)
            try:
                check_quotes(found, quoting)
            except UsageError:
                if gate is not None:
                    raise
                found = None
        return cls(built, quoting, found)

    def rank(self, question: str, texts: Sequence[str], waiting: Waiting | None = None) -> Ranking:
        """The texts, best first; their ids are their places.

        One that is waiting is scored with others that wait, where that makes no difference.
        """
        pool = Pool.of(question, texts)
        if waiting is not None and len(texts) <= _TOGETHER and self.ranker.alone:
            scores = waiting.scored(self.ranker).tolist()
        else:
            ranker = self.ranker.prepare([pool])
            if not ranker.alone:
                return ranker.rank(question, pool.candidates)
            scores = [score for some in _portions(texts) for score in ranker.score(question, some).tolist()]
        order = np.argsort(-np.array(scores, np.float64), kind="stable").tolist()
        ranked: list[Candidate] = [pool.candidates[at] for at in order]
        return Ranking(question, tuple(ranked), tuple(scores[at] for at in order))

    def verdict(self, ranking: Ranking) -> Verdict | None:
        """What the gate says of the best text, if there are a gate and a text."""
        return None if self.gate is None or not len(ranking) else self.gate.judge(ranking)

    def read(self, question: str, texts: Sequence[str]) -> list[Read]:
        """What is quoted from each text."""
        return [read for some in _portions(texts) for read in read_texts(self.reader, question, some)]

    def warm(self) -> None:
        """Load the models into memory."""
        self.verdict(self.rank("who?", ["Ada did."]))
        self.read("who?", ["Ada did."])


def _portions(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """The texts, so many at a time, as long as somebody wants them ranked."""
    for start in range(0, len(texts), _TOGETHER):
        runtime.go_on()
        yield texts[start : start + _TOGETHER]
