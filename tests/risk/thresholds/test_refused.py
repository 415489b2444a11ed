"""What is said where labels carry no promise: whether more of them would help, and what would."""

from __future__ import annotations

import numpy as np
import pytest

from demur.errors import NoThreshold
from demur.risk.thresholds.control import as_grid, choose

GRID = np.linspace(0, 1, 21)


def test_no_number_of_labels_helps_where_most_is_wrong() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(NoThreshold, match="more labels would not help") as refused:
        choose(rng.random(500), rng.random(500) < 0.7, 0.1, 0.05, grid=GRID)
    assert refused.value.more is None
    assert refused.value.lowest is not None and 0.6 < refused.value.lowest < 0.9
    with pytest.raises(NoThreshold, match="not even 99 %"):
        choose(rng.random(500), np.ones(500, np.bool_), 0.1, 0.05, grid=GRID)


def test_few_labels_do_not_say_that_more_would_not_help() -> None:
    for wrong, method in (([True, False], "ltt"), ([True, True], "clopper-pearson"), ([True] * 10, "ltt")):
        sure, grid = np.arange(len(wrong)) / 100, as_grid([-np.inf])
        with pytest.raises(NoThreshold, match="label more: it takes 29 answers if none is wrong"):
            choose(sure, np.array(wrong), 0.1, 0.05, grid=grid, method=method)
    with pytest.raises(NoThreshold, match="more labels would not help"):
        choose(np.arange(30) / 100, np.ones(30, np.bool_), 0.1, 0.05, grid=as_grid([-np.inf]))


def test_where_the_surest_answers_are_right_more_labels_may_help() -> None:
    sure, wrong = np.arange(60) / 60, np.arange(60) < 53  # the seven surest are right, all others wrong
    with pytest.raises(NoThreshold, match="more labels help only where the surest answers are right"):
        choose(sure, wrong, 0.1, 0.05, grid=as_grid([-np.inf]))
    wrong[-4:-1] = True
    with pytest.raises(NoThreshold, match="more labels would not help"):
        choose(sure, wrong, 0.1, 0.05, grid=as_grid([-np.inf]))
    many = np.arange(3000) / 3000  # among so many the surest would have been enough
    with pytest.raises(NoThreshold, match="more labels would not help"):
        choose(many, np.arange(3000) < 2993, 0.1, 0.05, grid=as_grid([-np.inf]))


def test_enough_answers_that_are_wrong_too_often_are_not_said_to_be_too_few() -> None:
    said = (
        r"not even 99 % can be promised; for 90 % no threshold is strict enough at this rate of errors; "
        r"check the labels; more labels help only where the surest answers are right$"
    )
    with pytest.raises(NoThreshold, match=said):
        choose(np.arange(25) / 25, np.ones(25, np.bool_), 0.9, 0.05, grid=as_grid([-np.inf]))
    with pytest.raises(NoThreshold, match="label more: it takes 2 answers"):  # five tell no rate of errors
        choose(np.arange(5) / 5, np.ones(5, np.bool_), 0.9, 0.05, grid=as_grid([-np.inf]))
    wrong = np.arange(30) % 2 == 0
    with pytest.raises(
        NoThreshold, match=r"for 40 % no threshold .*; check the labels, or name a larger risk"
    ):
        choose(np.arange(30) / 30, wrong, 0.4, 0.05, grid=as_grid([-np.inf]))
