"""A shard scored by a worker that may die of it, and which of its rows that was.

A worker that is killed leaves no word, so each try is written down before it begins. Once two workers have
died of a shard, its rows are scored one by one before it is scored whole: whoever dies then dies of that
row, which is left out.
"""

from __future__ import annotations

from contextlib import suppress

from demur.errors import count_of
from demur.scale.work import Outcome, Shard, known_outcome, score_shard
from demur.scoring import Scorer

TWICE = 2
MOST = 10
"""Rows of one shard that may kill a worker each; if there are more, it is hardly the rows."""
_WHOLE, _ROW, _SOUND, _LAST = "whole", "row", "sound", "last"


def survived(scorer: Scorer, shard: Shard, run: str) -> Outcome:
    """What became of a shard. A `run` counts its own deaths: whoever stops it has killed workers, too."""
    if (there := known_outcome(shard)) is not None:
        return there
    log = _Log(shard, run)
    dead: list[int] = []
    if log.count(_WHOLE) < TWICE:
        log.add(_WHOLE)
    else:
        known = log.rows(_ROW)
        dead = [row for row in known if row not in log.rows(_SOUND)]
        if len(dead) > MOST:
            return _stopped(shard, f"workers died of {len(dead)} rows here, such as {dead[0]}")
        if log.count(_LAST) == TWICE:
            return _stopped(shard, "workers died of these rows together, and of none alone")
        for row, pool in zip(shard.rows, shard.pools, strict=True):
            if row not in known:
                log.add(_ROW, row)
                with suppress(Exception):  # it is told when the shard is scored
                    scorer.pools([pool])
                log.add(_SOUND, row)
        log.add(_LAST)
    outcome = score_shard(scorer, shard, {row: _said(shard, row) for row in dead})
    log.path.unlink(missing_ok=True)
    return outcome


class _Log:
    """What was begun in this run, a line each."""

    def __init__(self, shard: Shard, run: str) -> None:
        self.path, self.run = shard.item.note(shard.number, "tries"), run
        lines = self.path.read_text("utf-8").splitlines() if self.path.exists() else []
        self.seen = [line.split()[1:] for line in lines if line.startswith(f"{run} ")]

    def add(self, kind: str, row: int = 0) -> None:
        """Write down what begins, or has ended well."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{self.run} {kind} {row}\n")

    def count(self, kind: str) -> int:
        """How often this was begun before."""
        return sum(each[0] == kind for each in self.seen)

    def rows(self, kind: str) -> dict[int, None]:
        """The rows of which this was written down before, in order."""
        return {int(each[1]): None for each in self.seen if each[0] == kind}


def _said(shard: Shard, row: int) -> str:
    size = count_of(len(shard.pools[list(shard.rows).index(row)]), "candidate")
    return f"three workers died of this row ({size}); if it is sound, give workers more memory"


def _stopped(shard: Shard, what: str) -> Outcome:
    place = f"{shard.item.source}, rows {shard.rows[0]} to {shard.rows[-1]}"
    fix = "give workers more memory, and run the same again to resume"
    return Outcome(shard.item.number, stopped=f"{place}: {what}; {fix}")
