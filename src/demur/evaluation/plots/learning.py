"""Pictures of a measure by the number of labelled questions, or by epoch; one panel to a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.evaluation.plots.confidence import COLOURS, DASHES, MARKERS, legend, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 4  # panels below one another


@dataclass(frozen=True)
class Curve:
    """Means at sizes, with the ends of what is drawn around them; a `flat` one is a line without marks."""

    sizes: Sequence[int]
    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    flat: bool = False


def learning_curves(
    path: str | Path, panels: Mapping[str, Mapping[str, Curve]], measure: str, epochs: str = ""
) -> None:
    """Write curves of the same names in every panel; many panels stand in two columns.

    `epochs` says what the numbers below are, if they are epochs and not numbers of questions.
    """
    names = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    columns = 1 if len(panels) <= _MOST else 2

    def draw(axes: Sequence[Axes]) -> None:
        from matplotlib.ticker import MaxNLocator

        for place, (ax, (title, panel)) in enumerate(zip(axes, panels.items(), strict=True)):
            for name, curve in panel.items():
                _draw(ax, curve, name, names.index(name))
            if epochs:
                ax.xaxis.set_major_locator(MaxNLocator(integer=True))  # there is no half epoch
            else:
                ax.set_xscale("log", base=2)
            ax.set_ylabel("" if place % columns else measure)
            ax.set_title(title, loc="right", fontsize=7, pad=2)
            ax.xaxis.set_major_formatter(lambda size, place: f"{size:.0f}")
        legend(axes[0], names, wide=columns > 1)

    high = 0.5 + 0.12 * len(names) + 1.7 * -(-len(panels) // columns)
    picture(path, high, len(panels), draw, x=epochs or "labelled questions", columns=columns)


def _draw(ax: Axes, curve: Curve, name: str, place: int) -> None:
    if curve.flat:
        ax.axhline(curve.mean[0], color="#777777", linewidth=1, label=name)
        return
    style: dict[str, Any] = {"color": COLOURS[place % len(COLOURS)]}
    other = place + place // len(COLOURS)  # colours that come again have another mark and dash
    marks: dict[str, Any] = {"marker": MARKERS[other % len(MARKERS)], "markersize": 2.5, "label": name}
    ax.fill_between(curve.sizes, curve.low, curve.high, alpha=0.15, linewidth=0, **style)
    ax.plot(curve.sizes, curve.mean, linestyle=DASHES[other % len(DASHES)], **marks, **style)
