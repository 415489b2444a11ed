"""FAQs and handbooks that were written for this project: what is asked of them fits them."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from tools import written_pools
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


def test_pools_to_train_on_say_what_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    some = {of: list(islice(written(f"{of}chance"), 60)) for of in (WRITTEN_BOOKS, WRITTEN_FAQS)}
    monkeypatch.setattr(written_pools, "written", lambda name: iter(some[f"{name.partition('/')[0]}/"]))
    asked = {pool.id: pool for pool, _ in some[WRITTEN_BOOKS]}
    read = [pool for pool in written_pools.taught("chance") if "answers" in pool.extra]
    assert {pool.question for pool in read} == {pool.question for pool in asked.values()}
    for pool in read:
        (passage,), answers = pool.answers, pool.extra["answers"]
        assert pool.extra["is_impossible"] == (not pool.positives) == (not answers)
        for answer in answers:
            assert passage[answer["answer_start"] :].startswith(answer["text"])
    ranked = list(written_pools.to_rank("chance"))
    for pool in ranked:
        assert len(pool) == 1 + written_pools.BESIDE and pool.labels[0] == 1 == pool.positives
    every = [pool for of in some.values() for pool, _ in of]
    assert len(ranked) == sum(pool.extra["kind"] not in NONE for pool in every)
    for pool in written_pools.asked("chance"):
        assert len(pool) == written_pools.FOUND and pool.positives <= asked[pool.id].positives
    assert [pool.id for pool in written_pools.asked("chance")] == list(asked)


def _file(pool: Pool) -> str:
    return pool.id.rpartition("-")[0]
