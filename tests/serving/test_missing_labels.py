"""How many labels are missing, by one rule: a stricter promise takes no fewer, and is known no better."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from demur.asking.gates.labels import FIT
from demur.asking.gates.missing import RISKS, missing_labels
from demur.risk.thresholds.control import STARTS, Evidence

LEVELS = (0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02)


def drawn(seed: int) -> tuple[Evidence, int]:
    """Answers, more of them wrong where the confidence is low; and how many questions were judged."""
    draw = np.random.default_rng(seed)
    many = int(draw.integers(1, 90))
    confidence = draw.random(many)
    wrong = draw.random(many) < draw.random() * (1.2 - confidence)
    return Evidence.of(confidence, wrong, others=draw.random(many // 4 + 1)), many


def told(evidence: Evidence | None, many: int) -> list[float]:
    """The number at each level; none at one that can be promised, and endless where it is not known."""
    found = []
    for level in LEVELS:
        promised = evidence is not None and evidence.choice(level, 0.05) is not None
        more = 0 if promised else missing_labels(evidence, many, level, 0.05)
        found.append(np.inf if more is None else more)
    return found


def test_a_stricter_promise_takes_no_fewer_labels() -> None:
    numbers = unknown = 0
    for seed in range(48):
        found = told(*drawn(seed))
        taken = [each for each in found if each]  # a promise that holds by luck of the draw takes none
        assert taken == sorted(taken), (seed, found)
        numbers += any(0 < each < np.inf for each in found)
        unknown += np.inf in found
    assert numbers > 16 and unknown > 2


@pytest.mark.parametrize("many", [0, 5, 19])
def test_few_labels_tell_no_rate_of_errors_at_any_level(many: int) -> None:
    """Also where all of them are wrong."""
    wrong = Evidence.of(np.linspace(0, 1, many), np.ones(many, np.bool_), others=np.linspace(0, 1, 5))
    assert told(wrong, many) == told(None, many) and np.inf not in told(wrong, many)


def test_where_the_surest_answers_are_right_a_number_is_told() -> None:
    sure, wrong = np.arange(60) / 60, np.arange(60) < 53
    evidence = Evidence.of(sure, wrong, others=np.array([-1.0]))
    assert evidence.more_labels(0.1, 0.05) is None
    assert missing_labels(evidence, 60, 0.1, 0.05) == math.ceil(
        (evidence.fewest(0.1, 0.05) or 0) * FIT / (FIT - 1)
    )
    assert missing_labels(Evidence.of(sure, sure < 1, others=np.array([-1.0])), 60, 0.1, 0.05) is None


def test_the_page_on_labelling_tells_the_rule() -> None:
    page = (Path(__file__).parents[2] / "docs" / "labelling.md").read_text("utf-8")
    assert f"ln(0.05 / {STARTS}) / ln(1 − *r*)" in " ".join(page.split())
    for risk in RISKS:
        certify = math.ceil(math.log(0.05 / STARTS) / math.log(1 - risk))
        assert missing_labels(None, 0, risk, 0.05) == math.ceil(certify * FIT / (FIT - 1))
