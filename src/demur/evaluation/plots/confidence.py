"""Pictures of confidence and risk, as SVG or PNG; `pip install 'demur[report]'` brings what draws them.

All are as wide as a column of a paper, in colours that the colour-blind can tell apart (Okabe and Ito's), and
the same bytes whenever the same data are drawn. Nothing is ever shown on a display.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.errors import UsageError, require
from demur.evaluation.selective.ordered import Answers
from demur.files import replacing
from demur.risk.calibration_error import reliability
from demur.risk.predictions import BoolArray, Predictions
from demur.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 3.3  # inches
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "os^Dv<>"
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 300,
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is everywhere
    "font.size": 7,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.4,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "savefig.dpi": 300,
    "svg.hashsalt": "demur",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}
_FEWEST = 10  # answers; the risk of fewer jumps about and says nothing
_POINTS = 200  # of a curve


def risk_coverage(
    path: str | Path,
    systems: Mapping[str, Predictions],
    *,
    certified: Mapping[str, float] | None = None,
    risk: float | None = None,
    of: str = "",
    resamples: int = 500,
    seed: int = 0,
) -> None:
    """Write risk–coverage curves with 95 % bootstrap bands; `certified` has the thresholds to be marked.

    What all are `of` stands above them.
    """

    def draw(axes: Sequence[Axes]) -> None:
        (ax,) = axes
        highest, marks = 0.0, []
        for place, (name, predictions) in enumerate(systems.items()):
            colour, dash = COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]
            coverage, curve, low, high = curve_and_band(predictions, resamples, seed)
            ax.fill_between(coverage, low, high, color=colour, alpha=0.18, linewidth=0)
            ax.plot(coverage, curve, color=colour, linestyle=dash, label=_short(name))
            highest = max(highest, float(curve.max()), float(np.quantile(high, 0.9)))
            threshold = (certified or {}).get(name)
            if threshold is not None and predictions.answered(threshold).any():
                at = predictions.coverage(threshold), predictions.risk(threshold)
                marks = ax.plot(*at, "o", color=colour, markersize=5, markeredgecolor="white", zorder=5)
        if marks:
            ax.plot([], [], "o", color="#555555", markersize=4, label="certified")
        if risk is not None:
            highest = max(highest, 1.1 * risk)
            ax.axhline(risk, color="#555555", linewidth=0.8, linestyle=(0, (4, 2)))
            where: dict[str, Any] = {"va": "bottom", "color": "#555555", "path_effects": [_halo()]}
            ax.text(0.01, risk, f"{100 * risk:.4g} % asked for", **where)
        ax.set(xlim=(0, 1), ylim=(0, min(1.0, 1.05 * max(highest, 0.01))))
        ax.set(xlabel="coverage: answered of predicted answers", ylabel="risk: wrong of answered", title=of)
        _percents(ax, "xy")
        if len(systems) > 1 or marks:
            legend(ax, systems)

    picture(path, 2.4, 1, draw)


def curve_and_band(
    predictions: Predictions, resamples: int = 500, seed: int = 0
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Coverages, the risk at each, and a 95 % band over questions; within ties the mean over their orders."""
    asked = predictions.predicted
    answers = Answers.of(predictions.confidence[asked], predictions.wrong[asked])
    n = len(answers.loss)
    given = np.linspace(min(_FEWEST, n), n, min(_POINTS, n))

    def curve(times: IntArray) -> FloatArray:
        blocks = answers.drawn(times[None]).blocks
        upto, wrong = (np.append(0, each[0]) for each in (blocks.upto, blocks.wrong_upto))
        return np.asarray(np.interp(given, upto, wrong) / given, np.float64)

    rng = np.random.default_rng(seed)
    drawn = [curve(np.bincount(rng.integers(0, n, n), minlength=n)) for _ in range(resamples)]
    low, high = np.quantile(drawn, (0.025, 0.975), axis=0)
    return given / n, curve(np.ones(n, np.int64)), low, high


def confidence_histograms(
    path: str | Path,
    predictions: Predictions,
    *,
    threshold: float | None = None,
    of: str = "confidence",
    bins: int = 30,
) -> None:
    """Write histograms of confidence where the top candidate is right, wrong, or there is no right one."""
    answered = predictions.predicted
    kinds = {
        "AD+: right": (COLOURS[0], answered & predictions.correct),
        "AD−: wrong, though there is a right one": (COLOURS[4], predictions.wrong & predictions.answerable),
        "UD: wrong, for there is no right one": (COLOURS[1], predictions.wrong & ~predictions.answerable),
    }
    kinds = {name: each for name, each in kinds.items() if each[1].any()}
    finite = predictions.confidence[answered & np.isfinite(predictions.confidence)]
    if not len(finite):
        raise UsageError(
            "no answer has a finite confidence, so there is nothing to draw; choose another qualifier"
        )
    edges = np.linspace(*_range(finite, threshold), bins + 1)

    def draw(axes: Sequence[Axes]) -> None:
        for ax, (name, (colour, kind)) in zip(axes, kinds.items(), strict=True):
            inside = np.clip(predictions.confidence[kind], edges[0], edges[-1])
            ax.hist(inside, edges.tolist(), color=colour)
            ax.set_title(f"{name} ({kind.sum():,})", loc="left", fontsize=7, pad=2)
            ax.grid(axis="x", visible=False)
            ax.locator_params(axis="y", nbins=3, integer=True)
            if threshold is not None:
                at = float(np.clip(threshold, edges[0], edges[-1]))
                ax.axvline(at, color="black", linewidth=0.8, linestyle=(0, (4, 2)))
        axes[-1].set_xlabel(f"{of}\n(what lies beyond the ends is counted there)")

    picture(path, 0.5 + 0.85 * len(kinds), len(kinds), draw, "questions")


def reliability_diagram(
    path: str | Path, systems: Mapping[str, tuple[FloatArray, BoolArray]], *, bins: int = 10
) -> None:
    """Write how often answers were right against the chance stated for each, in bins of equal mass.

    A system is its stated chances and whether the answers were right; the bars are 95 % intervals.
    """
    found = {name: reliability(*given, bins=bins) for name, given in systems.items()}
    widest = max(float(max(each.high.max(), each.stated.max())) for each in found.values())

    def draw(axes: Sequence[Axes]) -> None:
        (ax,) = axes
        ax.plot((0, 1), (0, 1), color="#555555", linewidth=0.8, linestyle=(0, (4, 2)))
        for place, (name, each) in enumerate(found.items()):
            style: dict[str, Any] = {"color": COLOURS[place % len(COLOURS)], "label": _short(name)}
            bars = (each.correct - each.low, each.high - each.correct)
            marker = MARKERS[place % len(MARKERS)]
            ax.errorbar(each.stated, each.correct, bars, fmt=marker, markersize=4, elinewidth=0.8, **style)
        room = 1.04 * widest
        ax.set(xlim=(0, room), ylim=(0, room), aspect="equal")
        ax.set(xlabel="stated chance of being right", ylabel="share that was right")
        _percents(ax, "xy")
        if len(systems) > 1:
            legend(ax, systems)

    picture(path, WIDTH, 1, draw)


def _range(values: FloatArray, threshold: float | None) -> tuple[float, float]:
    """Where to draw: without the outermost hundredth on either side, but with a threshold that is near."""
    low, high = np.quantile(values, (0.01, 0.99)).tolist()
    room = high - low
    if threshold is not None and low - room <= threshold <= high + room:
        low, high = min(low, threshold), max(high, threshold)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _percents(ax: Axes, which: str) -> None:
    for axis in which:
        getattr(ax, f"{axis}axis").set_major_formatter(lambda share, place: f"{100 * share:.4g} %")


def legend(ax: Axes, names: Iterable[str], wide: bool = False) -> None:
    """Put the names above the axes, or if it is `wide` above the picture, two to a line if they are short."""
    how: dict[str, Any] = {"ncols": 1 + (max(map(len, names), default=0) <= 20), "handlelength": 2.4}
    if wide:
        every = {name: line for each in ax.figure.axes for line, name in zip(*_lines(each), strict=True)}
        ax.figure.legend(every.values(), every, loc="outside upper left", **how)
    else:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, **how)


def _lines(ax: Axes) -> tuple[list[Any], list[Any]]:
    found: tuple[list[Any], list[Any]] = ax.get_legend_handles_labels()
    return found


def _short(name: str) -> str:
    """As much of a name as fits into a legend."""
    return name if len(name) <= 44 else f"{name[:43]}…"


def _halo() -> Any:
    """White around letters, so that they can be read on top of lines."""
    from matplotlib.patheffects import withStroke

    return withStroke(linewidth=2, foreground="white")


def form_of(path: str | Path) -> str:
    """The form of picture that a file's name asks for."""
    form = Path(path).suffix.removeprefix(".").lower()
    if form not in ("svg", "png"):
        raise UsageError(f"{path} is not named .svg or .png; a picture is one of the two")
    return form


def picture(
    path: str | Path,
    height: float,
    panels: int,
    draw: Callable[[Sequence[Axes]], None],
    y: str = "",
    x: str = "",
    columns: int = 1,
) -> None:
    """Draw on axes below one another, or in some columns, and write the file whole or not at all.

    They share one x axis; the lowest of each column shows its numbers.
    """
    form = form_of(path)
    matplotlib: Any = require("matplotlib", extra="report")
    from matplotlib.figure import Figure

    metadata = {"svg": {"Date": None, "Creator": "demur"}, "png": {"Software": "demur"}}[form]
    drawn = io.BytesIO()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        figure = Figure(figsize=(WIDTH * (1 + columns) / 2, height), layout="constrained")
        every = list(figure.subplots(-(-panels // columns), columns, sharex=True, squeeze=False).flat)
        draw(every[:panels])
        for ax in every[panels:]:
            ax.set_visible(False)
        for ax in every[max(0, panels - columns) : panels]:
            ax.tick_params(labelbottom=True)
        if y:
            figure.supylabel(y, fontsize=7)
        if x:
            figure.supxlabel(x, fontsize=7)
        figure.savefig(drawn, format=form, metadata=metadata)
    with replacing(path) as file:
        file.buffer.write(drawn.getvalue())
