"""What a gate of a base says of itself, and the gauge that tells when questions have changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from demur.advice.labelling import best_of
from demur.asking import Session
from demur.asking.gates.base_gate import searcher
from demur.errors import UsageError
from demur.serving.process.metrics import apart


def test_a_searcher_is_known_again_over_other_passages(tmp_path: Path) -> None:
    one, other = (Session.open([text], "bm25").search for text in ("Saws.", "Ladders are long."))
    assert one.fingerprint != other.fingerprint and searcher(one) == searcher(other)
    stemless = Session.open(["Saws."], "bm25", stem="none").search
    assert searcher(stemless) != searcher(one)


def test_confidences_that_drift_are_told_from_those_that_do_not() -> None:
    rng = np.random.default_rng(0)
    then = np.sort(rng.uniform(size=1000))
    assert apart(rng.uniform(size=500).tolist(), then.tolist()) < 0.1
    assert apart((rng.uniform(size=500) / 2).tolist(), then.tolist()) > 0.4
    assert apart([0.1] * 49, then.tolist()) == 0 == apart([0.1] * 500, [])


def test_the_question_to_label_is_unsure_has_an_answer_and_stands_for_others() -> None:
    sure, unsure = np.array([9.0, 1.0]), np.array([9.0, 8.9])
    nothing = np.array([0.1, 0.09])
    asked = ["saws saws", "ladders wood", "drills bits"]
    assert best_of(asked, [sure, unsure, nothing]) == 1
    assert best_of(["saws lent", "kayak paddle"], [unsure, unsure], ["kayak paddle"]) == 0
    assert best_of(["one"], [np.zeros(0)]) == 0


def test_options_that_need_a_base_say_so() -> None:
    from demur.cli.serving.serve import serve

    with pytest.raises(UsageError, match="--keep-questions needs a knowledge base"):
        serve(keep_questions=True)
