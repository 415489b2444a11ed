"""FAQs and handbooks that were written for this project: what is asked of them fits them."""

from __future__ import annotations

from collections import Counter

import pytest
from tools.written import NONE, PARTS, WRITTEN_BOOKS, WRITTEN_FAQS, written

from demur.types import Pool

SETS = [f"{of}{part}" for of in (WRITTEN_BOOKS, WRITTEN_FAQS) for part in PARTS]


@pytest.mark.parametrize("name", SETS)
def test_each_question_has_one_right_passage_or_none(name: str) -> None:
    kinds: dict[str, Counter[str]] = {}
    for pool, _ in written(name):
        kind = pool.extra["kind"]
        kinds.setdefault(_file(pool), Counter())[kind] += 1
        assert sum(each.label or 0 for each in pool.candidates) == (kind not in NONE), pool.id
    assert kinds and all(min(some[kind] for kind in NONE) >= 8 for some in kinds.values())


def test_nothing_is_asked_twice_of_a_file_and_no_part_has_a_file_of_another() -> None:
    every = {name: [(_file(pool), pool.question.lower()) for pool, _ in written(name)] for name in SETS}
    assert [one for some in every.values() for one, many in Counter(some).items() if many > 1] == []
    files = [file for some in every.values() for file in {file for file, _ in some}]
    assert len(files) == len(set(files))


def _file(pool: Pool) -> str:
    return pool.id.rpartition("-")[0]
