from __future__ import annotations

import pytest

from demur.risk.gates.certificate import (
    ANSWERS,
    SCOPE,
    SCOPE_WITHOUT_LABELS,
    UNANSWERABLE,
    Certificate,
    percent,
    sure,
    told_apart,
)


@pytest.mark.parametrize(
    ("confidence", "digits", "shown"),
    [
        (0.7834, 2, "0.78"),
        (0.994, 2, "0.99"),
        (0.9951, 2, "above 0.99"),
        (1.0, 2, "above 0.99"),
        (0.99997, 4, "above 0.9999"),
        (1.004, 2, "1"),  # a margin, which may be larger
        (12.5, 4, "12.5"),
    ],
)
def test_a_confidence_is_never_shown_as_certainty(confidence: float, digits: int, shown: str) -> None:
    assert sure(confidence, digits) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.2, "20 %"),
        (0.12345, "12.35 %"),
        (1.0, "100 %"),
        (0.99999, "99.999 %"),
        (1 - 1e-9, "99.9999999 %"),
        (0.0, "0 %"),
    ],
)
def test_no_share_is_rounded_to_all(share: float, shown: str) -> None:
    assert percent(share) == shown


@pytest.mark.parametrize(
    ("confidence", "threshold", "shown"),
    [
        (0.78, 0.62, ("0.78", "0.62")),
        (0.6204, 0.62, ("0.6204", "0.62")),
        (0.99999, 0.62, ("above 0.99", "0.62")),
        (0.99999, 0.998, ("above 0.999", "0.998")),
        (0.5, 0.9999, ("0.5", "0.9999")),
        (0.9996, 0.9998, ("0.9996", "0.9998")),
        (12.51, 12.52, ("12.51", "12.52")),
        (10.0, 0.1234, ("10", "0.1234")),  # few digits are for scales below ten
        (1.0, 1.0, ("above 0.99", "1")),
    ],
)
def test_a_confidence_and_a_threshold_can_be_told_apart(
    confidence: float, threshold: float, shown: tuple[str, str]
) -> None:
    assert told_apart(confidence, threshold) == shown


@pytest.mark.parametrize(
    ("method", "about", "scope"),
    [
        ("ltt", ANSWERS, SCOPE),
        ("ltt", UNANSWERABLE, SCOPE_WITHOUT_LABELS),
        ("plug-in", ANSWERS, ()),
    ],
)
def test_a_promise_ends_where_its_kind_does(method: str, about: str, scope: tuple[str, ...]) -> None:
    grounds = Certificate(
        *(0.1, 0.95, 100, 50, 1, 0.09, method, 0, 120),
        *("0" * 64, "some", "bm25", "f" * 16, "margin", "0.1.0", about),
    )
    assert grounds.scope == scope
