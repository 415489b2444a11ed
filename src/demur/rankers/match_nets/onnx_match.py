"""Nets that match words, exported: an ONNX file and the vectors of words, run on the CPU without torch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from demur import processor, runtime, store
from demur.errors import DataError, UsageError
from demur.files import sha256, whole
from demur.rankers.base import Ranker
from demur.rankers.cross_encoders.onnx import MODEL
from demur.rankers.match_nets.match_nets import FACTS, lexicon_in
from demur.rankers.match_nets.word_numbers import VECTORS, Lexicon, Read, batches, of_pools
from demur.types import FloatArray, IntArray, Pool

FILES = MODEL, FACTS, VECTORS


@dataclass(frozen=True)
class OnnxMatch(Ranker):
    """A net that matches words, such as MatchPyramid, that ``demur export`` wrote; it needs no torch."""

    name: ClassVar[str] = "onnx-match"
    tolerance: ClassVar[float] = 2e-5
    alone: ClassVar[bool] = True
    folder: str = ""
    threads: int = 0  # 0 is as many as may be used, see demur.processor

    def __post_init__(self) -> None:
        if not self.folder:
            raise UsageError("onnx-match needs a folder; make one with demur export MODEL -o DIR")
        if self.threads < 0:
            raise UsageError(f"threads={self.threads} means nothing; use 1 or more, or 0 for all cores")

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool; a pair that stands there twice is scored once."""
        [scores] = score_together([self], pools)
        return scores

    @property
    def shape(self) -> tuple[object, ...]:
        """What two of them must share to see the same batches."""
        model = open_onnx(self.folder)
        return model.words.fingerprint, model.question_words, model.answer_words

    @property
    def words(self) -> Lexicon:
        """The vectors of the words that it knows."""
        return open_onnx(self.folder).words

    def save_into(self, folder: Path) -> str:
        """The spec of the ranker whose files now lie in the folder too."""
        import shutil

        for name in (MODEL, FACTS):
            shutil.copyfile(Path(self.folder) / name, folder / name)
        self.words.save(folder)
        return self.name

    @property
    def fingerprint(self) -> str:
        """A hash of the files, wherever they lie; threads change no score."""
        folder = Path(self.folder)
        kept = store.open_folder(folder, check=False).files if store.is_model(folder) else {}
        files = {name: kept.get(name) or sha256(folder / name) for name in FILES}
        return hashlib.sha256(f"{self.name} {files}".encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Opened:
    """What lies in a folder, ready to run."""

    session: Any
    words: Lexicon
    question_words: int
    answer_words: int
    inputs: tuple[str, ...]

    def scores(self, given: dict[str, Any]) -> FloatArray:
        """What the net says of a batch of pairs."""
        found: FloatArray = self.session.run(["score"], {name: given[name] for name in self.inputs})[0]
        return found


def score_together(members: Sequence[OnnxMatch], pools: Sequence[Pool]) -> list[list[FloatArray]]:
    """The scores by each of several rankers that share a shape: texts are read once for all."""
    models = [open_onnx(member.folder) for member in members]
    words, sizes = models[0].words, (models[0].question_words, models[0].answer_words)
    threads = members[0].threads or processor.threads()

    def score(read: Read, questions: IntArray, answers: IntArray) -> FloatArray:
        found = np.empty((len(models), len(questions)))

        def run(chosen: IntArray) -> None:
            asked, told = (
                read.filled(t[chosen], n) for t, n in zip((questions, answers), sizes, strict=True)
            )
            given = {"question": words.matrix[asked], "answer": words.matrix[told]}
            given |= {"asked": _here(asked), "there": _here(told)}
            for number, model in enumerate(models):
                found[number, chosen] = model.scores(given)

        with ThreadPoolExecutor(threads) as workers:  # a batch to each core
            list(workers.map(run, batches(read, questions, answers)))
        return found

    return of_pools(words, pools, score, len(models))


def _here(numbers: IntArray) -> Any:
    """Which places of texts are words; the first always counts, as in `nets.matching.match_net.here`."""
    return (numbers > 0) | (np.arange(numbers.shape[1]) == 0)


def open_onnx(folder: str) -> Opened:
    """What lies in a folder; read again only when it has changed."""
    return _opened(folder, runtime.stamp(Path(folder), FILES))


@lru_cache(maxsize=32)
def _opened(folder: str, stamp: object) -> Opened:
    session = runtime.session(Path(folder) / MODEL)
    path = Path(folder) / FACTS
    try:
        facts = json.loads(whole(path))
        sizes = int(facts["question"]), int(facts["answer"])
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise DataError(f"says no sizes ({error})", path=path, fix="export the model again") from None
    words = lexicon_in(Path(folder))
    return Opened(session, words, *sizes, tuple(each.name for each in session.get_inputs()))
