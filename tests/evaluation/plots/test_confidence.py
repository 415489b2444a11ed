from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from demur.errors import MissingExtra, UsageError
from demur.evaluation.plots import confidence as plots
from demur.risk.predictions import Predictions

matplotlib = pytest.importorskip("matplotlib")


def predictions(n: int = 300, seed: int = 0, levels: int | None = None) -> Predictions:
    rng = np.random.default_rng(seed)
    confidence = rng.random(n)
    if levels:
        confidence = np.floor(confidence * levels) / levels
    correct = rng.random(n) < confidence
    answerable = correct | (rng.random(n) < 0.5)
    predicted = np.ones(n, np.bool_)
    predicted[:5] = correct[:5] = False
    return Predictions(tuple(map(str, range(n))), confidence, correct, answerable, predicted)


def draw_all(folder: Path, form: str) -> list[Path]:
    systems = {"bm25": predictions(), "overlap": predictions(seed=1, levels=10)}
    paths = [folder / f"{name}.{form}" for name in ("curve", "histogram")]
    plots.risk_coverage(paths[0], systems, certified={"bm25": 0.7}, risk=0.2, resamples=20)
    plots.confidence_histograms(paths[1], predictions(), threshold=0.7, of="margin")
    return paths


def test_svg_has_the_width_of_a_column_and_no_date(tmp_path: Path) -> None:
    for path in draw_all(tmp_path, "svg"):
        text = path.read_text("utf-8")
        assert 'width="237.6pt"' in text  # 3.3 inches
        assert "<dc:date>" not in text
        assert matplotlib.__version__ not in text


@pytest.mark.parametrize("form", ["svg", "png"])
def test_the_same_data_are_the_same_bytes(tmp_path: Path, form: str) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    for one, two in zip(draw_all(tmp_path / "one", form), draw_all(tmp_path / "two", form), strict=True):
        assert one.read_bytes() == two.read_bytes()


def test_png_has_the_dots_of_a_column_at_300_dpi(tmp_path: Path) -> None:
    for path in draw_all(tmp_path, "png"):
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG")
        assert int.from_bytes(data[16:20], "big") == 990


def test_settings_are_left_alone_and_do_not_matter(tmp_path: Path) -> None:
    plots.confidence_histograms(tmp_path / "a.svg", predictions())
    before = matplotlib.rcParams["font.size"]
    with matplotlib.rc_context({"font.size": 20, "axes.grid": False, "figure.dpi": 50}):
        plots.confidence_histograms(tmp_path / "b.svg", predictions())
        assert matplotlib.rcParams["font.size"] == 20
    assert matplotlib.rcParams["font.size"] == before
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "matplotlib.pyplot" not in sys.modules, "nothing that could want a display"


def test_curve_by_hand() -> None:
    wrong = np.array([False, True, False, False] * 5)
    given = Predictions(
        tuple(map(str, range(20))), -np.arange(20.0), ~wrong, np.ones(20, np.bool_), np.ones(20, np.bool_)
    )
    coverage, risk, low, high = plots.curve_and_band(given, resamples=50)
    assert np.allclose(coverage, np.linspace(0.5, 1, 20))
    assert risk[0] == pytest.approx(0.3)  # places 1, 5 and 9 of the first ten
    assert risk[-1] == pytest.approx(0.25)
    assert (low <= risk).all() and (risk <= high).all()
    assert (low < high).all()


def test_order_within_ties_changes_nothing() -> None:
    tied = predictions(levels=4)
    order = np.random.default_rng(5).permutation(300)
    ids = tuple(tied.ids[place] for place in order)
    correct, answerable, predicted = (a[order] for a in (tied.correct, tied.answerable, tied.predicted))
    shuffled = Predictions(ids, tied.confidence[order], correct, answerable, predicted)
    assert np.allclose(plots.curve_and_band(tied, 2)[1], plots.curve_and_band(shuffled, 2)[1])


def test_infinite_confidence_is_drawn_at_the_ends(tmp_path: Path) -> None:
    given = predictions()
    confidence = given.confidence.copy()
    confidence[5:8] = [np.inf, -np.inf, np.inf]
    some = Predictions(given.ids, confidence, given.correct, given.answerable, given.predicted)
    plots.confidence_histograms(tmp_path / "a.svg", some)
    plots.risk_coverage(tmp_path / "b.svg", {"bm25": some}, resamples=5)
    everything = Predictions(given.ids, np.full(300, 2.0), given.correct, given.answerable, given.predicted)
    plots.confidence_histograms(tmp_path / "c.svg", everything, threshold=np.inf)


def test_nothing_wrong_is_a_line_at_the_bottom(tmp_path: Path) -> None:
    yes = np.ones(30, np.bool_)
    right = Predictions(tuple(map(str, range(30))), np.arange(30.0), yes, yes, yes)
    plots.risk_coverage(tmp_path / "a.svg", {"bm25": right}, resamples=5)
    plots.confidence_histograms(tmp_path / "b.svg", right)


def test_a_threshold_that_lets_nothing_pass_is_not_marked(tmp_path: Path) -> None:
    for name, threshold in (("a", 2.0), ("b", 0.5)):
        plots.risk_coverage(
            tmp_path / f"{name}.svg", {"bm25": predictions()}, certified={"bm25": threshold}, resamples=5
        )
    marks = [len(re.findall("<use ", (tmp_path / f"{name}.svg").read_text())) for name in "ab"]
    assert marks[0] < marks[1]


def test_what_cannot_be_drawn_is_said_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"not named .svg or .png"):
        plots.confidence_histograms(tmp_path / "a.pdf", predictions())
    none = np.zeros(0, np.bool_)
    nothing = Predictions((), np.zeros(0), none, none, none)
    with pytest.raises(UsageError, match="nothing"):
        plots.confidence_histograms(tmp_path / "a.svg", nothing)
    with pytest.raises(UsageError, match="nothing can be measured"):
        plots.risk_coverage(tmp_path / "a.svg", {"bm25": nothing})
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'demur\[report\]'"):
        plots.confidence_histograms(tmp_path / "a.svg", predictions())
