"""What a reader learns where windows share a softmax, questions count by trust, or another reader teaches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from demur.errors import UsageError
from demur.rankers.opening import save
from demur.training.objectives.reading import of_passages, of_windows
from demur.training.readers.examples import Lesson, examples_of, measured, trust
from demur.training.readers.trainers import SpanReader
from demur.types import Candidate, Pool
from laws import toys

QUICK: dict[str, Any] = {
    **{"base": toys.bert(), "epochs": 12, "tokens": 120, "learning_rate": 0.003, "precision": "fp32"},
    **{"freeze_words": False, "max_length": 32},
}


def asked(number: int, answerable: bool = True, margin: float | None = None) -> Pool:
    """What sailed is asked; the passage says so in its first words, or not at all."""
    ship, cape = np.random.default_rng(number).permutation(["ship", "cafe", "abc", "cape"])[:2]
    passage = f"the {ship} {'sailed' if answerable else 'round'} may the {cape}"
    listed = [{"text": str(ship), "answer_start": 4}] if answerable else []
    extra = {"title": "t", "paragraph": number, "answers": listed, "is_impossible": not answerable}
    if margin is not None:
        extra["align_margin"] = margin
    return Pool(f"{number}", "quest sailed?", (Candidate(f"t-{number}", passage, int(answerable)),), extra)


POOLS = [asked(number, number % 3 > 0) for number in range(24)]


def trained(pools: list[Pool], **settings: Any) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = (
        SpanReader(**{**QUICK, "epochs": 2, **settings}).train(pools).fresh()[0].state_dict()
    )
    return found


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


def logits(windows: int, positions: int) -> tuple[torch.Tensor, torch.Tensor]:
    drawn = torch.Generator().manual_seed(windows)
    starts, ends = (torch.randn(windows, positions, generator=drawn) for _ in range(2))
    starts[0, -2:] = ends[0, -2:] = -torch.inf  # the first window is shorter
    return starts.requires_grad_(), ends.requires_grad_()


def test_a_passage_of_one_window_has_the_loss_of_the_window() -> None:
    starts, ends = logits(3, 7)
    wanted = torch.tensor([[0, 0], [2, 3], [5, 6]])
    each = of_windows(starts, ends, wanted)
    assert torch.allclose(each, of_passages(starts, ends, wanted, [1, 1, 1]))
    together = cross_entropy(starts, wanted[:, 0]) + cross_entropy(ends, wanted[:, 1])
    assert torch.allclose(each.mean(), together)


@pytest.mark.parametrize("shown", [(), (1,), (0, 1)])
def test_windows_of_a_passage_share_one_softmax(shown: tuple[int, ...]) -> None:
    starts, ends = logits(2, 6)
    wanted = torch.zeros(2, 2, dtype=torch.long)
    for row in shown:
        wanted[row] = torch.tensor([1, 3])
    loss = of_passages(starts, ends, wanted, [2])
    by_hand = 0.0
    for side, column in ((starts.detach(), 0), (ends.detach(), 1)):
        none = side[:, 0].min().exp()
        whole = none + side[:, 1:].exp().sum()
        right = sum(side[row, wanted[row, column]].exp() for row in shown) if shown else none
        by_hand -= float(torch.log(right / whole))
    assert loss.item() == pytest.approx(by_hand, rel=1e-5)
    loss.sum().backward()  # type: ignore[no-untyped-call]
    assert starts.grad is not None and torch.isfinite(starts.grad).all() and starts.grad.abs().sum() > 0


def test_windows_of_one_passage_are_one_unit_of_a_lesson() -> None:
    long = replace(POOLS[1], candidates=(Candidate("t", POOLS[1].answers[0] + " may the abc" * 12, 1),))
    begun = SpanReader(**{**QUICK, "max_length": 16, "stride": 4}).begun(None, [])
    begun = replace(begun, max_length=16, stride=4)
    windows, targets = examples_of(begun, *begun.fresh(), [POOLS[0], long, POOLS[2]])
    units = Lesson.of(windows, targets, together=True).units
    assert len(units) == 3 and len(units[1]) > 1 and sum(map(len, units)) == len(windows)
    assert Lesson.of(windows, targets, together=False).units == [[place] for place in range(len(windows))]
    whole = [bool(first) for first, _ in targets[units[1]]]
    assert any(whole) and not all(whole)


def test_it_learns_from_passages_of_several_windows_together() -> None:
    pools = [
        replace(p, candidates=(replace(p.candidates[0], text=p.answers[0] + " may the abc" * 2),))
        for p in (asked(number, number % 3 > 0) for number in range(24))
    ]
    settings = {**QUICK, "epochs": 30, "learning_rate": 0.01, "max_length": 16, "stride": 4}
    taught = SpanReader(**settings, together=True).train(pools)
    assert measured(taught, pools, "EM") > 0.8 and taught.max_length == 16


def test_questions_count_by_how_surely_they_are_of_their_passage() -> None:
    begun = SpanReader(**QUICK).begun(None, [])
    pools = [asked(1), asked(3, False, -2.0), asked(6, False, 10.0), asked(9, False, 90.0), asked(12, False)]
    lesson = Lesson.of(*examples_of(begun, *begun.fresh(), pools), together=False)
    assert lesson.counting(pools, 40.0).counts == pytest.approx([1, 0, 0.25, 1, 1])
    whole = Lesson.of(lesson.windows, lesson.targets, together=True)
    assert whole.counting(pools, 40.0).counts == pytest.approx([1, 0, 0.25, 1, 1])
    answered = replace(asked(1), extra={**asked(1).extra, "align_margin": -5.0})
    assert trust(answered, 40.0) == 1, "a margin is of questions without an answer alone"


@pytest.mark.parametrize("margin", ["high", True, float("nan"), [1.0]])
def test_a_margin_that_is_no_number_is_one_line(margin: Any) -> None:
    bad = replace(asked(30, False), extra={**asked(30, False).extra, "align_margin": margin})
    with pytest.raises(UsageError, match=r"question '30' has an align_margin of .*; make it a number"):
        SpanReader(**QUICK, sure=20.0).train([*POOLS, bad])


def test_trust_in_questions_that_have_no_margin_is_refused() -> None:
    with pytest.raises(UsageError, match=r"so sure=20 would do nothing; leave it out"):
        SpanReader(**QUICK, sure=20.0).train(POOLS)


def test_a_question_that_counts_for_nothing_teaches_nothing() -> None:
    kept = [asked(number) for number in range(8)]
    doubtful, plain = [asked(30, False, -1.0)], [asked(30, False, 90.0)]
    learnt = [trained([*kept, *extra], sure=20.0, tokens=9999) for extra in (doubtful, plain)]
    assert not same(*learnt)
    answered = asked(30)  # the same question and the passage, other labels: nothing of it is learnt
    other = replace(answered, candidates=doubtful[0].candidates, extra=doubtful[0].extra)
    assert same(learnt[0], trained([*kept, other], sure=20.0, tokens=9999))


def test_the_margin_is_among_what_a_kept_model_is_known_by() -> None:
    one, other = asked(3, False, 5.0), asked(3, False, 50.0)
    assert SpanReader().sees(one) == SpanReader().sees(other)
    assert SpanReader(sure=20.0).sees(one) != SpanReader(sure=20.0).sees(other)


def test_a_reader_teaches_what_labels_do_not_say(tmp_path: Path) -> None:
    pools = [asked(number) for number in range(24)]
    save(SpanReader(**{**QUICK, "epochs": 40}).train(pools), tmp_path / "reader")
    extra = [{**pool.extra, "answers": [], "is_impossible": True} for pool in pools]
    unanswered = [
        replace(p, extra=e, candidates=(replace(p.candidates[0], label=0),))
        for p, e in zip(pools, extra, strict=True)
    ]

    def sure(**settings: Any) -> float:
        """How likely the second word starts the answer, in the mean."""
        made = SpanReader(**{**QUICK, "epochs": 40, **settings}).train(unanswered)
        windows = made.windows(*made.fresh(), [(p.question, p.answers[0]) for p in pools])
        with torch.no_grad():
            starts, _, _ = made.forward(made.fresh()[0], windows)
        return float(starts.softmax(1)[:, 2].mean())

    taught = sure(reader=str(tmp_path / "reader"))
    assert taught > 0.3 and taught > 4 * sure()
    by = SpanReader(reader=str(tmp_path / "reader"))
    assert by.depends and by.depends != SpanReader().depends and "reader=" not in SpanReader().known_by


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"sure": -1.0}, r"sure=-1 must be an align_margin of 0 or more"),
        ({"sure": float("nan")}, r"sure=nan must be"),
        ({"together": True, "reader": "some"}, r"each window by itself; leave out together, or reader"),
    ],
)
def test_settings_that_make_no_sense_are_one_line(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        SpanReader(**settings)


def test_a_reader_that_is_none_is_one_line() -> None:
    with pytest.raises(UsageError, match=r"name a folder that demur train --trainer span-reader made"):
        SpanReader(**{**QUICK, "reader": toys.small()}).train(POOLS)
