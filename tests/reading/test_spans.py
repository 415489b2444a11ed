from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from demur.reading.spans import View, best, covering, fairly, span, stretches


def view(starts: list[float], ends: list[float], fair: list[bool] | None = None) -> View:
    size = len(starts)
    places = np.array([[0, 0], *([n, n + 1] for n in range(size - 1))])
    marks = np.array(fair or [True] * size)
    return View(0, 0, np.array(starts, float), np.array(ends, float), places, marks)


def plainly(seen: View, longest: int, count: int) -> list[tuple[float, int, int]]:
    size = len(seen.starts)
    every = [
        (float(seen.starts[a] + seen.ends[b]), a, b)
        for a in range(1, size)
        for b in range(a, min(a + longest, size))
        if seen.fair[a]
    ]
    return sorted(every, key=lambda each: (-each[0], each[1], each[2]))[:count]


LOGITS = some.lists(some.integers(-3, 3).map(float), min_size=1, max_size=40)


@given(LOGITS, some.data(), some.integers(1, 35), some.integers(1, 25))
def test_the_best_spans_are_those_of_trying_all(
    starts: list[float], data: some.DataObject, longest: int, count: int
) -> None:
    size = len(starts)
    ends = data.draw(some.lists(some.integers(-3, 3).map(float), min_size=size, max_size=size))
    fair = data.draw(some.lists(some.booleans(), min_size=size, max_size=size))
    seen = view(starts, ends, fair)
    assert best(seen, longest, count) == plainly(seen, longest, count)


def test_shares_are_a_distribution_with_no_answer_in_it() -> None:
    seen = view([1, 2, 3], [0, 0, 5])
    assert np.exp(seen.log_starts).sum() == pytest.approx(1)
    assert np.exp(seen.log_ends).sum() == pytest.approx(1)
    score, first, last = best(seen, 30, 1)[0]
    assert score - seen.scale == pytest.approx(seen.log_starts[first] + seen.log_ends[last])
    assert seen.null == 1


@given(some.integers(0, 300), some.integers(1, 50), some.integers(1, 60))
def test_windows_cover_everything_and_each_token_is_fair_in_one(tokens: int, room: int, stride: int) -> None:
    windows = stretches(tokens, room, stride)
    assert windows[0][0] == 0 and windows[-1][1] == tokens
    assert all(end - first <= room for first, end in windows)
    assert all(b[0] - a[0] <= max(1, room // 2) and b[0] <= a[1] for a, b in itertools.pairwise(windows))
    times = np.zeros(tokens, int)
    for (first, end), fair in zip(windows, fairly(windows, tokens), strict=True):
        times[first:end] += fair
    assert (times == 1).all()


@pytest.mark.parametrize(
    ("text", "token", "whole"),
    [
        ("un café noir", "cafe", "café"),
        ("a cafe\u0301!", "cafe", "cafe\u0301"),
        ("a 👍🏽 b", "👍", "👍🏽"),
        ("x 👩\u200d👧 y", "👩", "👩\u200d👧"),
        ("x 👩\u200d👧 y", "👧", "👩\u200d👧"),
        ("❤\ufe0f!", "❤", "❤\ufe0f"),
        ("a\r\n\tb c", "\r\n\tb ", "b"),
        ("\u0301odd", "odd", "odd"),
        ("हिन्दी", "ह", "हि"),
        ("Flag 🇩🇪🇫🇷!", "🇩", "🇩🇪"),
        ("Flag 🇩🇪🇫🇷!", "🇫", "🇫🇷"),
        ("Flag 🇩🇪🇫🇷!", "🇷", "🇫🇷"),
        ("\U0001f3f4\U000e0067\U000e007f!", "\U0001f3f4", "\U0001f3f4\U000e0067\U000e007f"),
        ("\u1112\u1161\u11ab\u1100", "\u1112", "\u1112\u1161\u11ab"),
        ("\u1112\u1161\u11ab\u1100", "\u1161", "\u1112\u1161\u11ab"),
    ],
)
def test_a_span_has_whole_characters_and_no_space_around(text: str, token: str, whole: str) -> None:
    at = text.find(token)
    if at < 0:  # the token is there without its accent
        at, token = text.find("caf"), "caf\u00e9"
    found = span(text, at, at + len(token))
    assert found.text == whole == text[found.start : found.end]


def test_tokens_that_cover_a_stretch() -> None:
    places = np.array([[0, 3], [4, 9], [9, 10], [11, 12]])
    assert covering(places, 4, 10) == (1, 2)
    assert covering(places, 5, 6) == (1, 1)
    assert covering(places, 3, 4) is None
