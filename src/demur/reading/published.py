"""What a system has answered to the questions of SQuAD: a JSON object of question id and answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from demur.data import sources
from demur.errors import DataError
from demur.files import whole
from demur.types import Pool


def place(name: str) -> Path:
    """Where a file of answers lies: as named, or below the data folder."""
    if Path(name).is_file():
        return Path(name)
    if name.partition("/")[0] not in sources.known():
        raise DataError("no such file", path=name, fix="name a JSON file of question ids and answers")
    return sources.locate("the answers of a system", name)


def read(name: str) -> dict[str, str]:
    """The answer to each question; empty where the system gave none."""
    path = place(name)
    fix = 'write {"question id": "answer"}, with "" for no answer'
    try:
        found = json.loads(whole(path))
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON ({error.msg})", path=path, line=error.lineno, fix=fix) from None
    if not isinstance(found, dict) or not all(isinstance(answer, str) for answer in found.values()):
        raise DataError("not an object of question ids and answers", path=path, fix=fix)
    return found


def answers(name: str, pools: Sequence[Pool]) -> list[str]:
    """The answers to these questions; one that is missing is an error."""
    found = read(name)
    for pool in pools:
        if pool.id not in found:
            raise DataError(f"no answer to {pool.id!r}", path=place(name), fix='answer it, or say ""')
    return [found[pool.id] for pool in pools]


def golds(pool: Pool) -> list[str]:
    """The right answers to a question of SQuAD; none if it cannot be answered."""
    listed = pool.extra.get("answers")
    if not isinstance(listed, list):
        raise DataError(f"question {pool.id!r} does not say its answers", fix="take a file of SQuAD")
    if not all(isinstance(answer, dict) and isinstance(answer.get("text"), str) for answer in listed):
        what = f"the answers to question {pool.id!r} are not all objects with a text"
        raise DataError(what, fix='write "answers": [{"text": "…", "answer_start": 0}], or [] for none')
    return [answer["text"] for answer in listed]
