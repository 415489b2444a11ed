"""A reader's doubt trained and saved in its folder, and a gate made with it, on questions like SQuAD's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from demur.doubt.base import Averaged, Doubt, doubt
from demur.doubt.doubt_folder import PLACE, TrainedDoubt, place_of, save, train_doubt
from demur.doubt.qualifier import Reading
from demur.errors import NoThreshold, UsageError
from demur.rankers.opening import save as write
from demur.reading.base import Reader
from demur.reading.normalise import exact
from demur.reading.opening import reader as resolve_reader
from demur.reading.published import answer_of, check_one_passage, golds
from demur.risk.gates.calibration import LEARNT_FROM
from demur.risk.gates.gate import Gate, calibrate
from demur.risk.gates.pool_hashes import Marks, mark
from demur.specs import parse
from demur.store import free, is_model
from demur.types import Pool


@dataclass(frozen=True, eq=False)
class DoubtTraining:
    """A doubt and the questions that it learns from, checked before anything slow begins."""

    how: Doubt
    reader: Reader
    pools: Sequence[Pool]
    train: Sequence[Pool] = ()
    called: str = ""
    """How the gate is to name the reader; its folder, if it is not said."""
    home: Path | None = None
    """A new folder for a reader that lies in none, such as the one that comes with demur, and its doubt."""

    def __post_init__(self) -> None:
        if self.home is not None and is_model(free(self.home)):
            what = f"{self.home} holds a model already"
            raise UsageError(f"{what}; train the doubt of that one, or name another folder")
        _ = self.place  # or it says that there is no folder to keep a doubt in
        if isinstance(self.how, Averaged):
            what = "averaged asks other readers each time, so it cannot be saved with one"
            raise UsageError(f"{what}; train learned or probe-cnn")
        if self.how.pictures and not self.train:
            what = f"{self.how.spec} needs probes, and they must be trained first"
            raise UsageError(f"{what}; name questions for them, such as the reader's own, by --probes-from")
        if not self.pools:
            raise UsageError(
                "there are no questions to train a doubt on; give some that the reader has not seen"
            )
        for pool in self.pools:
            golds(pool)
            if self.how.needs_fitting:
                check_one_passage(pool)
        for pool in self.train:
            answer_of(pool)

    @classmethod
    def of(
        cls,
        how: str | Doubt,
        reader: str,
        pools: Sequence[Pool],
        train: Sequence[Pool] = (),
        home: str | Path | None = None,
    ) -> DoubtTraining:
        """The training of a doubt for a reader, given by their specs; a `home` is for both."""
        place = None if home is None else Path(home)
        return cls(doubt(how), resolve_reader(reader), pools, train, str(home or reader), place)

    @property
    def place(self) -> Path:
        """The folder that the doubt is saved in."""
        return place_of(self.reader) if self.home is None else self.home / PLACE

    def run(self) -> TrainedDoubt:
        """Train the doubt, and save it in the reader's folder."""
        kept, reader = train_doubt(self.how, self.reader, self.pools, self.train), self.reader
        if self.home is not None:
            write(reader, self.home)
            reader = resolve_reader(self.home)
        made = {"questions": len(self.pools), "for probes": len(self.train)}
        save(kept, reader, self.place, made)
        return kept

    def split(self, seed: int = 0) -> tuple[DoubtTraining, Sequence[Pool]]:
        """The training on a third of the questions, and the others for a gate; all, if nothing is learnt."""
        ordered = sorted(self.pools, key=mark)  # what chance does must not depend on the order of a file
        if not self.how.needs_fitting:
            return self, ordered
        learns = np.random.default_rng(seed).permutation(len(ordered)) < len(ordered) * LEARNT_FROM
        chosen = [pool for pool, learnt in zip(ordered, learns, strict=True) if learnt]
        rest = [pool for pool, learnt in zip(ordered, learns, strict=True) if not learnt]
        return replace(self, pools=chosen), rest

    def gate(
        self,
        pools: Sequence[Pool],
        risk: float,
        confidence: float = 0.95,
        on_batch: Callable[[int], None] = lambda pairs: None,
        **settings: Any,
    ) -> Gate:
        """A gate for what the reader quotes, by the doubt in its folder; `pools` are other questions.

        It also recognises those that it learnt from, so that nobody measures it on them.
        """
        called = self.called or str(self.place.parent)
        how = Reading(reader=called, by="kept", quoting=True)
        judged = quoted(self.reader, pools)
        if not any(pool.positives for pool in judged):
            raise NoThreshold(risk, confidence, len(judged), None, None)
        made = calibrate(self.reader, judged, risk, confidence, qualifier=how, on_batch=on_batch, **settings)
        return replace(made, marks=Marks.of({mark(pool): pool for pool in (*pools, *self.pools)}.values()))


def quoted(reader: Reader, pools: Sequence[Pool]) -> list[Pool]:
    """The pools with a passage labelled 1 where what the reader quotes from it is a right answer, else 0."""
    found = iter(reader.read_all((pool.question, text) for pool in pools for text in pool.answers))
    made = []
    for pool in pools:
        right = golds(pool)
        spans = [next(found).span for _ in pool.answers]
        labels = [int(span is not None and bool(right) and exact(span.text, right)) for span in spans]
        pairs = zip(pool.candidates, labels, strict=True)
        made.append(replace(pool, candidates=tuple(replace(one, label=label) for one, label in pairs)))
    return made


def judged_for(gate: Gate, reader: str, pools: Sequence[Pool]) -> Sequence[Pool]:
    """The pools as a gate judges them: by what is quoted, if it was made so and they say right answers."""
    if not parse(gate.qualifier).settings.get("quoting") or not all(
        "answers" in pool.extra for pool in pools
    ):
        return pools
    return quoted(resolve_reader(reader), pools)
