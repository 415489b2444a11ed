from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from demur.errors import UsageError
from demur.evaluation.plots.probes import Case, probe_pictures


def case(size: int, layers: int, seed: int) -> Case:
    scores = np.random.default_rng(seed).normal(size=(size, 2, layers))
    scores[3, 0] += np.arange(layers)
    scores[5, 1] += np.arange(layers)
    return Case(np.exp(scores) / np.exp(scores).sum(axis=0), 3, 5)


def test_pictures_are_written_and_the_same_each_time(tmp_path: Path) -> None:
    cases = {"AD+": case(60, 5, 0), "AD−": case(40, 5, 1), "UD": case(80, 5, 2)}
    for name in ("one.svg", "two.svg"):
        probe_pictures(tmp_path / name, cases, layers=["a", "b", "c", "d", "e"])
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    probe_pictures(tmp_path / "one.png", {"AD+": case(300, 13, 0)})
    assert (tmp_path / "one.png").read_bytes()[:4] == b"\x89PNG"


def test_nothing_to_draw_is_one_clear_line(tmp_path: Path) -> None:
    for cases in ({}, {"AD+": case(9, 0, 0)}):
        with pytest.raises(UsageError, match="nothing to draw"):
            probe_pictures(tmp_path / "none.svg", cases)
