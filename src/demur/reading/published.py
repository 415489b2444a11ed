"""What a system has answered to the questions of SQuAD: a JSON object of question id and answer."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from demur.data import sources
from demur.errors import DataError
from demur.files import read_json
from demur.types import Pool

_log = logging.getLogger("demur")


def answers_file(name: str) -> Path:
    """Where a file of answers lies: as named, or below the data folder."""
    if Path(name).is_file():
        return Path(name)
    if name.partition("/")[0] not in sources.known():
        raise DataError("no such file", path=name, fix="name a JSON file of question ids and answers")
    return sources.locate("the answers of a system", name)


def read_answers(name: str) -> dict[str, str]:
    """The answer to each question; empty where the system gave none."""
    path = answers_file(name)
    fix = 'write {"question id": "answer"}, with "" for no answer'
    found = read_json(path, fix)
    if not isinstance(found, dict) or not all(isinstance(answer, str) for answer in found.values()):
        raise DataError("not an object of question ids and answers", path=path, fix=fix)
    return found


def answers(name: str, pools: Sequence[Pool]) -> list[str]:
    """The answers to these questions.

    One that is missing is an error where it might mean that there is none. Where every question has an
    answer, as in SQuAD 1.1, it is wrong, as the official script has it, and a warning says how many are.
    """
    found = read_answers(name)
    missing = [pool for pool in pools if pool.id not in found]
    if missing and (len(missing) == len(pools) or not all(golds(pool) for pool in pools)):
        raise DataError(
            f"no answer to {missing[0].id!r}", path=answers_file(name), fix='answer it, or write ""'
        )
    if missing:
        _log.warning(
            f"{name} has no answer to {len(missing):,} of {len(pools):,} questions; they count as wrong"
        )
    return [found.get(pool.id, "") for pool in pools]


def golds(pool: Pool) -> list[str]:
    """The right answers to a question of SQuAD; none if it cannot be answered."""
    listed = pool.extra.get("answers")
    if not isinstance(listed, list):
        raise DataError(f"question {pool.id!r} has no answers", fix="take a file of SQuAD")
    if not all(isinstance(answer, dict) and isinstance(answer.get("text"), str) for answer in listed):
        what = f"the answers to question {pool.id!r} are not all objects with a text"
        raise DataError(what, fix='write "answers": [{"text": "…", "answer_start": 0}], or [] for none')
    return [answer["text"] for answer in listed]


def check_one_passage(pool: Pool) -> None:
    """Raise an error if a question has not one passage."""
    if len(pool) != 1:
        what = f"question {pool.id!r} has {len(pool)} passages; readers and doubts learn from one of each"
        raise DataError(what, fix="take a split of squad, or a file in its form")


def answer_of(pool: Pool) -> tuple[int, int] | None:
    """Where the first answer to a question stands in its passage; None if there is none."""
    listed = golds(pool) and pool.extra["answers"][0]
    check_one_passage(pool)
    if not listed:
        return None
    start, text = listed.get("answer_start"), listed["text"]
    if type(start) is not int or pool.answers[0][start : start + len(text)] != text or start < 0:
        what = f"the answer to {pool.id!r} is not where answer_start says"
        raise DataError(what, fix="count characters from 0 in the passage as it is")
    return start, start + len(text)
