"""Pictures of what the layers of a reader say of each token: the brighter, the more probable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UsageError
from demur.evaluation.plots.confidence import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PARTS = ("start", "end")


@dataclass(frozen=True, eq=False)
class Case:
    """A window: positions × 2 × layers of probabilities, and the positions of what was answered."""

    picture: NDArray[Any]
    first: int
    last: int


def probe_pictures(path: str | Path, cases: Mapping[str, Case], *, layers: Sequence[str] = ()) -> None:
    """Write for each case how probable each layer holds each token to be the start, and the end.

    Brightness goes with the square root. The token at 0 stands for no answer. Layers go up, the last on top;
    `layers` may name them. A mark below shows where the reader's answer starts, and where it ends.
    """
    if not cases or any(not each.picture.shape[2] for each in cases.values()):
        raise UsageError("there is nothing to draw; observe with probes, and choose a case or more")
    count = max(each.picture.shape[2] for each in cases.values())

    def draw(axes: Sequence[Axes]) -> None:
        pairs = ((name, each, part) for name, each in cases.items() for part in range(2))
        widest = max(len(each.picture) for each in cases.values())
        for ax, (name, case, part) in zip(axes, pairs, strict=True):
            image = case.picture[:, part].astype(np.float64).T  # layers × positions
            style: dict[str, Any] = {"cmap": "viridis", "vmin": 0, "vmax": 1, "interpolation": "nearest"}
            ax.imshow(np.sqrt(image), origin="lower", aspect="auto", **style)
            at = case.first if part == 0 else case.last
            ax.plot([at], [-0.75], "^", color="#D55E00", markersize=3.5, clip_on=False, zorder=5)
            ax.set_title(f"{name}, {_PARTS[part]}" if name else _PARTS[part], loc="left", fontsize=7, pad=2)
            named = list(layers) if len(layers) == len(image) else [str(n) for n in range(len(image))]
            shown = list(range(0, len(image), 1 if len(image) <= 7 else 3))
            ax.set_yticks(shown, [named[n] for n in shown], fontsize=5)
            ax.set_xlim(-0.5, widest - 0.5)
            ax.grid(visible=False)
        axes[-1].set_xlabel("token of the passage; 0 means no answer")

    picture(path, 0.6 + 2 * len(cases) * (0.34 + 0.055 * count), 2 * len(cases), draw, "layer")
