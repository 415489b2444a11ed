"""Curves by size: names beyond the colours there are look like none before them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from demur.evaluation.plots.confidence import COLOURS
from demur.evaluation.plots.learning import Curve, learning_curves

CURVE = Curve((2, 4), (0.1, 0.2), (0.0, 0.1), (0.2, 0.3))


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Axes]:
    """The axes of what is written."""
    found: list[Axes] = []
    kept = Figure.savefig

    def keeping(figure: Figure, *args: object, **settings: object) -> None:
        found.extend(figure.axes)
        kept(figure, *args, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(Figure, "savefig", keeping)
    return found


def test_no_two_of_many_curves_look_alike(tmp_path: Path, drawn: list[Axes]) -> None:
    many = 3 * len(COLOURS)
    learning_curves(tmp_path / "many.svg", {"toys": {f"net {n}": CURVE for n in range(many)}}, "MAP")
    lines = drawn[0].get_lines()
    looks = [(to_hex(line.get_color()), str(line.get_marker()), str(line.get_linestyle())) for line in lines]
    assert len(looks) == many
    assert len(set(looks)) == many


def test_many_panels_stand_in_two_columns(tmp_path: Path, drawn: list[Axes]) -> None:
    learning_curves(tmp_path / "five.svg", {f"toys {n}": {"net": CURVE} for n in range(5)}, "MAP")
    assert [ax.get_visible() for ax in drawn] == [True] * 5 + [False]
    assert len({round(ax.get_position().x0, 2) for ax in drawn}) == 2
    figure = drawn[0].figure
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["net"], "once for all"
    numbered = [ax.xaxis.get_tick_params()["labelbottom"] for ax in drawn[:5]]
    assert numbered[3:] == [True, True], "the lowest of each column"
    drawn.clear()
    learning_curves(tmp_path / "three.svg", {f"toys {n}": {"net": CURVE} for n in range(3)}, "MAP")
    assert len({round(ax.get_position().x0, 2) for ax in drawn}) == 1
