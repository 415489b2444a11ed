"""Training of sentence encoders: the losses, which questions stand together, and the trainer end to end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import demur
from demur.embedders import embedder
from demur.errors import DemurError
from demur.rankers import open_model
from demur.rankers.opening import save
from demur.training import trainer
from demur.training.encoders.bi_encoder import BiEncoder
from demur.training.encoders.losses import contrast, geometry
from demur.training.encoders.nearness import near_together
from demur.types import Pool
from laws import toys
from training import made

POOLS = made.pools(12)


def quick(**more: Any) -> BiEncoder:
    base = {"base": toys.bert(), "epochs": 2, "tokens": 200, "learning_rate": 0.01, "freeze_words": False}
    return BiEncoder(**{**base, "max_length": 24, "precision": "fp32", **more})


# losses


def test_contrast_is_least_where_right_answers_are_nearest() -> None:
    questions = torch.eye(3)
    right = torch.eye(3, dtype=torch.bool)
    good, bad = (
        contrast(questions, torch.eye(3), right, 0.1),
        contrast(questions, 1 - torch.eye(3), right, 0.1),
    )
    assert good < 0.01 < 1 < bad
    assert contrast(questions, 5 * torch.eye(3), right, 0.1) == pytest.approx(float(good)), "of directions"
    one = contrast(questions[:1], torch.eye(3), right[:1], 0.1)
    unasked = contrast(questions, torch.eye(3), torch.tensor([[True, False, False], *[[False] * 3] * 2]), 0.1)
    assert unasked == pytest.approx(float(one)), "a question without a right answer counts nothing"
    assert contrast(questions, torch.eye(3), ~right & right, 0.1) == 0


def test_geometry_is_nothing_where_all_cosines_are_the_teachers() -> None:
    rows = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
    turned = torch.linalg.qr(torch.randn(4, 4, generator=torch.Generator().manual_seed(1)))[0]
    assert geometry(rows @ turned, 3 * rows, 0.1) == pytest.approx(0, abs=1e-5)
    other = torch.randn(6, 9, generator=torch.Generator().manual_seed(2))
    assert geometry(rows, other, 0.1) > 0.1, "the teacher may be wider"


def test_the_gradient_of_both_is_right() -> None:
    generator = torch.Generator().manual_seed(3)
    rows = torch.randn(4, 3, generator=generator, dtype=torch.float32).requires_grad_()
    right = torch.tensor([[True, False], [False, True]])
    losses: list[Callable[[torch.Tensor], torch.Tensor]] = [
        lambda v: contrast(v[:2], v[2:], right, 0.7),
        lambda v: geometry(v, v.detach().roll(1, 1), 0.7),
    ]
    for loss in losses:
        (gradient,) = torch.autograd.grad(loss(rows), rows)
        for at in ((0, 1), (2, 0), (3, 2)):
            up, down = rows.detach().clone(), rows.detach().clone()
            up[at] += 1e-2
            down[at] -= 1e-2
            assert float((loss(up) - loss(down)) / 2e-2) == pytest.approx(float(gradient[at]), abs=5e-3)


# steps


def test_what_is_near_stands_together() -> None:
    draws = np.random.default_rng(0)
    middles = draws.normal(size=(8, 6)) * 5
    of = np.repeat(np.arange(8), 20)
    vectors = middles[of] + draws.normal(size=(160, 6)) * 0.1
    order = near_together(vectors, draws.permutation(160), draws)
    assert sorted(order.tolist()) == list(range(160))
    same = (of[order][1:] == of[order][:-1]).mean()
    assert same > 0.8 > 0.3 > (of[draws.permutation(160)][1:] == of[draws.permutation(160)][:-1]).mean()
    assert near_together(vectors[:0], order[:0], draws).tolist() == []
    assert len(near_together(np.zeros((40, 3)), np.arange(40), draws)) == 40, "all alike"


# the trainer


def test_it_learns_what_answers_what() -> None:
    taught = quick(epochs=12).train(POOLS)
    found = demur.evaluate(taught, POOLS, "MAP").measures["MAP"].mean
    assert found > demur.evaluate(f'encoder(model="{toys.bert()}")', POOLS, "MAP").measures["MAP"].mean + 0.05


def test_it_comes_nearer_to_a_teacher_without_any_label() -> None:
    bare = [Pool.of(pool.question, pool.answers) for pool in POOLS]

    def apart(ranker: Any) -> float:
        texts = [text for pool in bare for text in (pool.question, *pool.answers)]
        own, theirs = (torch.from_numpy(each.embed(texts)) for each in (ranker.embedder, teacher))
        return float(geometry(own, theirs, 0.05))

    begun, taught = quick(epochs=1, learning_rate=1e-9), quick(epochs=15, learning_rate=0.003)
    with_teacher = (
        each.__class__(**{**vars(each), "teacher": toys.other_bert()}) for each in (begun, taught)
    )
    teacher = embedder(f'encoder(model="{toys.other_bert()}", max_length=24)')
    first, then = (apart(each.train(bare)) for each in with_teacher)
    assert then < 0.8 * first


def test_a_killed_run_ends_like_one_that_was_not(tmp_path: Path) -> None:
    def killed(facts: dict[str, Any]) -> None:
        if facts.get("epoch") == 1:
            raise KeyboardInterrupt

    for settings in ({"early": "MAP"}, {"teacher": toys.other_bert(), "labels": 0.3}):
        by, place = quick(**settings), tmp_path / str(len(settings))
        whole = by.train(POOLS, POOLS[:4])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("demur.training.loop.fitting.Schedule.minutes", 0)
            with pytest.raises(KeyboardInterrupt):
                by.train(POOLS, POOLS[:4], checkpoints=place, report=killed)
            resumed = by.train(POOLS, POOLS[:4], checkpoints=place)
        assert resumed.fingerprint == whole.fingerprint


def test_its_folder_is_an_encoder_too_and_scores_stay(tmp_path: Path) -> None:
    taught = quick().train(POOLS)
    save(taught, tmp_path / "model")
    opened = open_model(tmp_path / "model")
    for ranker in (opened, demur.ranker(f'encoder(model="{tmp_path}/model", precision=fp32)')):
        for pool in POOLS[:3]:
            assert ranker.score_pools([pool])[0] == pytest.approx(taught.score_pools([pool])[0], abs=1e-5)
    assert "bi-encoder" in opened.spec
    further = quick(epochs=1).train(POOLS, start=opened)
    assert further.fingerprint not in (opened.fingerprint, taught.fingerprint)


def test_what_a_text_is_beside_changes_no_vector() -> None:
    taught = quick(epochs=1).train(POOLS)
    texts = [POOLS[0].question, *POOLS[1].answers, "ship"]
    together = taught.embedder.embed(texts)
    alone = np.concatenate([taught.embedder.embed([text]) for text in texts])
    assert together == pytest.approx(alone, abs=1e-5)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("bi-encoder(labels=0.5)", "labels are all there is to learn without a teacher"),
        ("bi-encoder(heat=0)", "learning_rate and heat must be above 0"),
        ("bi-encoder(tokens=0)", "must be 1 or more"),
        ("bi-encoder(early=AURC)", "less the better"),
    ],
)
def test_settings_are_checked(spec: str, said: str) -> None:
    with pytest.raises(DemurError, match=said):
        trainer(spec)


def test_what_cannot_be_learnt_from_is_said() -> None:
    with pytest.raises(DemurError, match="no pool has a right answer"):
        quick().train([Pool.of("q", ["a"])])
    with pytest.raises(DemurError, match="cannot start from bm25"):
        quick().train(POOLS, start=demur.ranker("bm25"))
    with pytest.raises(DemurError, match="start from another model"):
        quick(base=toys.bert("cls")).train(POOLS)
