"""Curves by size: names beyond the colours there are look like none before them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from demur.evaluation.learning_plots import Curve, learning_curves
from demur.evaluation.plots import COLOURS


def test_no_two_of_many_curves_look_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = 3 * len(COLOURS)
    curve = Curve((2, 4), (0.1, 0.2), (0.0, 0.1), (0.2, 0.3))
    drawn: list[Axes] = []
    kept = Figure.savefig

    def keeping(figure: Figure, *args: object, **settings: object) -> None:
        drawn.extend(figure.axes)
        kept(figure, *args, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(Figure, "savefig", keeping)
    learning_curves(tmp_path / "many.svg", {"toys": {f"net {n}": curve for n in range(many)}}, "MAP")
    lines = drawn[0].get_lines()
    looks = [(to_hex(line.get_color()), str(line.get_marker()), str(line.get_linestyle())) for line in lines]
    assert len(looks) == many
    assert len(set(looks)) == many
