from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import demur
from demur.rankers import opening
from demur.rankers.ensembles.fusion import Fusion
from demur.training import trainer
from demur.training.labels.self_training import SelfTraining, marked, unlabelled
from demur.types import Candidate, Pool
from laws import toys

POOLS = [
    Pool(
        f"p{n}",
        question,
        tuple(Candidate(f"p{n}-{m}", text, int(m == 0), {"gold": m == 0}) for m, text in enumerate(answers)),
    )
    for n, (question, answers) in enumerate(
        [
            ("which ship sailed?", ["the ship sailed round", "nothing abc", "may", "cape"]),
            ("round the cape?", ["round the cape in may", "nothing", "ship abc", "abc"]),
            ("in may?", ["sailed in may", "cape ship", "nothing", "round"]),
            ("nothing abc?", ["nothing abc ship", "cape", "sailed may", "round"]),
        ]
        * 3
    )
]


def self_training(**settings: str | int | float) -> SelfTraining:
    student = f"concat(features='words(vectors={toys.vectors()})', early=none, epochs=4)"
    found = trainer("self", **{"teacher": "bm25", "student": student, "signal": "teacher", **settings})
    assert isinstance(found, SelfTraining)
    return found


def scores(ranker: demur.rankers.Ranker) -> list[list[float]]:
    return [each.tolist() for each in ranker.score_pools(POOLS)]


@pytest.mark.parametrize("signal", ["teacher", "membership", "both"])
def test_the_pools_own_labels_are_never_read(signal: str) -> None:
    expected = scores(self_training(signal=signal).train(POOLS, POOLS[:3]))
    bare = [unlabelled(pool) for pool in POOLS]
    turned = [
        dataclasses.replace(
            pool,
            candidates=tuple(
                dataclasses.replace(each, label=1 - (each.label or 0), extra={"gold": not each.label})
                for each in pool.candidates
            ),
            extra={"answer": pool.candidates[0].id},
        )
        for pool in POOLS
    ]
    for others in (bare, turned):
        assert scores(self_training(signal=signal).train(others, others[:3])) == expected


def test_the_student_learns_what_the_teacher_thinks() -> None:
    taught = self_training(student=student(epochs=60), blend=1).train(POOLS)
    assert type(taught).name == "concat"
    teacher = demur.ranker("bm25")
    for pool, mine, its in zip(POOLS, taught.score_pools(POOLS), teacher.score_pools(POOLS), strict=True):
        assert np.argmax(mine) == np.argmax(its), pool.question


def student(epochs: int) -> str:
    return f"concat(features='words(vectors={toys.vectors()})', early=none, dropout=0, epochs={epochs})"


def test_the_blend_is_that_of_both(tmp_path: Path) -> None:
    blended = self_training(blend=0.25).train(POOLS)
    alone = self_training(blend=1).train(POOLS)
    both = Fusion.of([demur.ranker("bm25"), alone], weights="0.75, 0.25")
    assert scores(blended) == scores(both)
    opening.save(blended, tmp_path / "model")
    assert scores(opening.open_model(tmp_path / "model")) == scores(both)


def test_in_a_second_round_the_blend_teaches() -> None:
    once, twice = (scores(self_training(rounds=rounds).train(POOLS)) for rounds in (1, 2))
    assert once != twice


def test_the_seed_is_the_students_too() -> None:
    first, again, other = (scores(self_training(seed=seed).train(POOLS)) for seed in (0, 0, 1))
    assert first == again != other


def test_marks_go_by_scores_and_equals_share_them() -> None:
    assert marked(np.array([3.0, 1, 2, 0]), 0.25, 0.5) == [1, 0, None, 0]
    assert marked(np.array([3.0, 3, 2, 0]), 0.25, 0.25) == [1, 1, None, 0]
    assert marked(np.array([1.0, 1, 1, 0]), 0.3, 0.5) == [None, None, None, None]
    assert marked(np.array([1.0]), 0.3, 0.5) == [None]
    assert marked(np.array([]), 0.3, 0.5) == []


def test_only_the_pools_that_the_teacher_tells_apart_best_take_part() -> None:
    pools = [
        Pool.of("ship?", ["ship", "cape", "may"], id="a"),
        Pool.of("ship?", ["ship", "ship", "ship"], id="b"),
    ]
    pools.append(Pool.of("ship may?", ["ship may", "ship", "cape", "may", "abc"], id="c"))
    maker = self_training(confident=0.5)
    assert [pool.id for pool in maker._by_teacher(demur.ranker("overlap"), pools)] == ["a"]
    everything = self_training(confident=1)._by_teacher(demur.ranker("overlap"), pools)
    assert [pool.id for pool in everything] == ["a", "c"]


def test_by_membership_others_answers_are_wrong() -> None:
    made = self_training(signal="membership", negatives=2)._by_membership(POOLS[:4])
    for pool, source in zip(made, POOLS[:4], strict=True):
        right = [each.text for each in pool.candidates if each.label == 1]
        wrong = [each.text for each in pool.candidates if each.label == 0]
        assert right == source.answers and wrong
        assert not set(wrong) & set(right)


def test_what_teaches_nothing_is_said_in_one_line() -> None:
    alike = [Pool.of("ship?", ["cape", "may"], id="a")]
    with pytest.raises(demur.DemurError, match="no pool has candidates that the teacher tells apart"):
        self_training().train(alike)
    with pytest.raises(demur.DemurError, match="of 1 question none has candidates that another one lacks"):
        self_training(signal="membership").train(alike)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"signal": "labels"}, "unknown signal 'labels'"),
        ({"top": 0.6, "bottom": 0.6}, "top, bottom and confident must be shares"),
        ({"confident": 0.0}, "top, bottom and confident must be shares"),
        ({"blend": 0.0}, "blend=0.0 must be above 0"),
        ({"rounds": 0}, "rounds and negatives must be 1 or more"),
    ],
)
def test_wrong_settings_are_one_line(settings: dict[str, str | float], message: str) -> None:
    with pytest.raises(demur.DemurError, match=message):
        self_training(**settings)
