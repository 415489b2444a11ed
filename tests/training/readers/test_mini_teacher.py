"""A mini that learns another ranker's opinion beside labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from demur.errors import UsageError
from demur.rankers import ranker
from demur.reading.readers.mini_torch import MiniTorch
from demur.training.objectives.mini import agreeing, ranked
from demur.training.readers.mini import Mini
from demur.training.readers.mini_teacher import LABELS, shares
from demur.types import Candidate, Pool
from laws import toys

SHIPS = ["ship", "cafe", "abc", "cape"]


@pytest.fixture(autouse=True)
def small_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    from demur.embedders import embedder

    monkeypatch.setattr(
        "demur.training.readers.mini.embedder", lambda spec: embedder(f"{spec}(model={toys.bert()})")
    )


def asked(number: int) -> Pool:
    ship, cape = np.random.default_rng(number).permutation(SHIPS)[:2]
    extra = {"title": "t", "answers": [{"text": str(ship), "answer_start": 4}]}
    return Pool(
        f"s-{number}", "quest sailed?", (Candidate("t", f"the {ship} sailed may the {cape}", 1),), extra
    )


def pool(number: int) -> Pool:
    draws = np.random.default_rng(number)
    return Pool.of(
        "quest round?",
        [f"the {draws.choice(SHIPS)} sailed {number}", f"nothing may {number}"],
        [1, 0],
        id=f"r{number}",
    )


POOLS = [*map(asked, range(8)), *map(pool, range(12))]
TEACHER = "length"  # the longer the better


def started() -> MiniTorch:
    return MiniTorch(model=toys.mini())


def quick(**settings: Any) -> Mini:
    usual = {"epochs": 1, "tokens": 400, "learning_rate": 0.003, "precision": "fp32", "freeze_words": False}
    return Mini(**{**usual, "pair": 24, "max_length": 32, "teacher": TEACHER, "more": 3, **settings})


def missing(made: MiniTorch) -> float:
    """How far a network's opinion of the pools is from what it was, and the teacher's, together."""
    bare = [Pool.of(one.question, [*one.answers, "the cape round the cafe"], id=one.id) for one in POOLS]
    wanted = shares(bare, started(), ranker(TEACHER), lambda facts: None)
    scores = [torch.from_numpy(each) for each in made.score_pools(bare)]
    lost = [
        float(
            (torch.from_numpy(trust) * (torch.from_numpy(np.log(trust)) - torch.log_softmax(each, 0))).sum()
        )
        for trust, each in zip(wanted, scores, strict=True)
    ]
    return float(np.mean(lost))


def test_it_learns_its_own_opinion_and_the_teachers() -> None:
    made = quick(epochs=100).train(POOLS, start=started())
    alone = quick(epochs=100, teacher="", more=0).train(POOLS, start=started())
    assert missing(made) < 0.9 * missing(alone)


def test_unlabelled_only_the_teacher_is_heard() -> None:
    scores, trusted = torch.tensor([1.0, 2.0, 0.5]), [np.array([0.2, 0.3, 0.5])]
    first, last = [True, False, False], [False, False, True]
    assert agreeing(scores, first, [3], trusted, 0.0) == agreeing(scores, last, [3], trusted, 0.0)
    assert agreeing(scores, first, [3], trusted) != agreeing(scores, last, [3], trusted)
    short = [
        Pool.of("quest?", ["the cape", f"the cape round the cafe {n}"], [1, 0], id=f"n{n}") for n in range(4)
    ]
    settings = {"base": toys.classifier(), "more": 0, "tasks": "rank", "epochs": 30}
    without, beside = (quick(unlabelled=left, **settings).train(short) for left in (True, False))
    higher = [sum(b > a for a, b in made.score_pools(short)) for made in (without, beside)]
    assert higher[0] == 4 > higher[1]  # the longer, says the teacher; the shorter is the right one


def test_shares_are_of_both_and_sum_to_one() -> None:
    pools = [Pool.of("quest cape?", ["the ship", "the cafe sailed round", "may"], id="n")]
    [found] = shares(pools, started(), ranker(TEACHER), lambda facts: None)
    assert found.sum() == pytest.approx(1) and (found > 0).all()
    [alone] = shares(pools, started(), ranker("random"), lambda facts: None)
    assert not np.allclose(found, alone)


def test_its_loss_is_the_teachers_cross_entropy_and_a_little_of_the_labels() -> None:
    scores = torch.tensor([0.5, -1.0, 2.0, 0.0, 1.0])
    trust = [np.array([0.2, 0.3, 0.5]), np.array([0.9, 0.1])]
    none = agreeing(scores, [False] * 5, [3, 2], trust)
    logs = [torch.log_softmax(scores[:3], 0), torch.log_softmax(scores[3:], 0)]
    wanted = [-float((torch.tensor(t) * log.double()).sum()) for t, log in zip(trust, logs, strict=True)]
    assert float(none) == pytest.approx(np.mean(wanted), abs=1e-6)
    some = agreeing(scores, [True, False, False, False, False], [3, 2], trust)
    labelled = float(ranked(scores[:3], [True, False, False], [3]))
    assert float(some) == pytest.approx(
        ((1 - LABELS) * wanted[0] + LABELS * labelled + wanted[1]) / 2, abs=1e-6
    )


def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    whole = quick(epochs=2).train(POOLS, start=started(), checkpoints=tmp_path)
    again = quick(epochs=2).train(POOLS, start=started(), checkpoints=tmp_path)
    assert whole.fingerprint == again.fingerprint


def test_weights_may_go_some_of_the_way_back() -> None:
    before, after, between = (
        started().fresh()[0].state_dict(),
        *(quick(stay=share).train(POOLS, start=started()).fresh()[0].state_dict() for share in (0.0, 0.25)),
    )
    moved = [name for name, value in before.items() if not torch.equal(value, after[name])]
    assert moved
    for name in moved:
        torch.testing.assert_close(between[name], torch.lerp(after[name], before[name], 0.25))


def test_older_models_keep_their_names() -> None:
    assert "teacher" not in Mini().known_by and "more" not in Mini().known_by
    assert Mini(teacher="length").depends != Mini(teacher="bm25").depends


def test_bad_settings_are_said() -> None:
    with pytest.raises(UsageError, match="name one, as teacher=encoder"):
        Mini(more=3)
    with pytest.raises(UsageError, match="a share from 0"):
        Mini(stay=1)
    with pytest.raises(UsageError, match="name a teacher"):
        Mini(unlabelled=True)


def test_where_it_begins_the_teachers_opinion_is_all_there_is() -> None:
    """The longer the better, says the teacher; labels alone are what a new network would have said."""
    short = [
        Pool.of("quest?", ["the cape", f"the cape round the cafe {n}"], [1, 0], id=f"n{n}") for n in range(4)
    ]
    ranked, trust = quick(base=toys.classifier(), more=0)._ranked(short, None, lambda facts: None)
    assert len(ranked) == len(trust) == 4
    assert all(
        one[np.argmax([len(text) for text in pool.answers])] > 0.9
        for pool, one in zip(ranked, trust, strict=False)
    )
    made = quick(base=toys.classifier(), more=0, epochs=2).train(short)
    assert isinstance(made, MiniTorch)


def test_an_faq_is_learnt_from_the_teacher_alone() -> None:
    from demur.embedders import embedder
    from demur.training.readers.mini_faq import entries
    from demur.training.readers.mini_teacher import shares_of_teacher

    pools = [replace(one, question=f"{one.question} {one.id}") for one in POOLS]
    found = entries(pools, 10, 3, 0, embedder(f"encoder(model={toys.bert()})"))
    assert 5 < len(found) <= 10
    assert all(candidate.label is None for one in found for candidate in one.candidates)
    questions = {one.question for one in pools}
    assert all(text.partition("\n")[0] in questions for one in found for text in one.answers)
    assert any("\n" in text for one in found for text in one.answers)
    own = [one for one in found if any(each.id == "own" for each in one.candidates)]
    assert 0 < len(own) < len(found)
    [trust] = shares_of_teacher(found[:1], ranker(TEACHER))
    assert trust.sum() == pytest.approx(1)
    assert trust.argmax() == np.argmax([len(text.split()) for text in found[0].answers])
    made = quick(epochs=1, entries=6).train(POOLS, start=started())
    assert made.fingerprint != quick(epochs=1).train(POOLS, start=started()).fingerprint
    with pytest.raises(UsageError, match="each beside as many others as more says"):
        Mini(entries=3)


def test_among_says_how_many_questions_of_squad_are_ranked() -> None:
    def ranked(**settings: Any) -> set[str]:
        found, _ = quick(base=toys.classifier(), **settings)._ranked(POOLS, None, lambda facts: None)
        return {one.id for one in found if one.id.startswith("s-")}

    assert len(ranked()) == 8 and len(some := ranked(among=3)) == 3
    assert ranked(among=3) == some and ranked(among=99) == ranked()
    with pytest.raises(UsageError, match="say more"):
        Mini(among=3)
