"""What `demur evaluate` reads: pools, the scores that they hold, and their labels."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

from demur.cli.console import note, one_line, tracked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.types import Candidate, Pool


def read_pools(data: str, read_as: str | None) -> Sequence[Pool]:
    """The pools of a dataset or file; reading a large file shows how far it is."""
    from demur.data import Pools, formats
    from demur.data import pools as find

    if read_as is not None:
        return list(tracked(formats.read_pools(data, read_as), "reading", "pools"))
    found = find(data)
    held = list(tracked(found.stream(), "reading", "pools"))
    return Pools(found.id, found.files, lambda: iter(held), found.relevant)


def tell_doubts(pools: Sequence[Pool], data: str | None, searched: bool = False) -> None:
    """Say what makes the labels of a file tell less than they seem to: questions again, no wrong answers.

    Where files are `searched`, the wrong answers are there.
    """
    from demur.errors import count_of

    if data is None or not Path(data).exists() or any("answers" in pool.extra for pool in pools):
        return  # a question of SQuAD may stand with several passages, each of which is right
    seen: dict[str, str] = {}
    asked = ((" ".join(pool.question.casefold().split()), pool) for pool in pools)
    again = [pool.question for question, pool in asked if seen.setdefault(question, pool.id) != pool.id]
    if again:
        what = f"{count_of(len(again), 'question')} asked before, such as “{one_line(again[0])[:80]}”"
        rows = data.removesuffix(".gz").endswith((".csv", ".tsv"))
        how = ". Rows of one question must follow each other, with one id or none" if rows else ""
        note(f"{data}: {what}; each counts as a question of its own{how}")
    answerable = [pool for pool in pools if pool.positives]
    if answerable and not searched and all(pool.positives == len(pool) for pool in answerable):
        note(f"{data}: no question has a wrong answer, so any ranking is right; label some wrong ones, too")


def scores_of(pools: Sequence[Pool], data: str) -> list[list[float]]:
    """The scores that candidates bring along, as `demur score` writes them."""
    from demur.errors import UsageError

    if not any("score" in candidate.extra for pool in pools for candidate in pool.candidates):
        raise UsageError(f"{data} has no scores; name a --ranker, or score it first with demur score")
    return [[_score(candidate, pool, data) for candidate in pool.candidates] for pool in pools]


def _score(candidate: Candidate, pool: Pool, data: str) -> float:
    """The score of a candidate. A text or a truth value is none, even if it could be read as a number."""
    from contextlib import suppress

    from demur.errors import DataError

    value = candidate.extra.get("score")
    if isinstance(value, int | float) and value == value and type(value) is not bool:
        with suppress(OverflowError):  # a whole number of 400 digits
            return float(value)
    where = f"candidate {candidate.id!r} in pool {pool.id!r}"
    if "score" not in candidate.extra:
        what = f"{where} has no score, though others have"
    else:
        what = f"the score of {where} is {dumps(value)[:60]}, not a number"
    raise DataError(what, path=data, fix="write a number, or name a --ranker to score it")


def labels_of(pools: Sequence[Pool]) -> dict[str, dict[str, int]]:
    """The labels of pools as judgements, for a run over them."""
    return {pool.id: {c.id: c.label for c in pool.candidates if c.label is not None} for pool in pools}
