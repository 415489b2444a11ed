"""One page of tables and a picture, from what the suite found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.errors import count_of
from demur.evaluation.robust.conditions import SHARES
from demur.evaluation.robust.suite import Finding, Robustness
from demur.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLES = {
    "overlap": "Where shared words mislead",
    "typos": "Typos",
    "echo": "A wrong answer that repeats the question",
    "same meaning": "Other words for the same",
    "other meaning": "Nearly the same words for something else",
    "beside": "Beside the first ranker, under the same changes",
}
_SAID = {
    "overlap": "Easy are questions whose answers with the most shared words are right, hard those where they "
    "are wrong; `before` is P@1 of the easy, `after` of the hard.",
    "typos": "One typo in a tenth of the words (no stop words) of so many answers or questions.",
    "echo": "The question is put before one wrong answer of each pool; `echo on top` says how often that one "
    "is first.",
    "same meaning": "The same edit in question and answers, over the pools where it changes anything.",
    "beside": "`before` is the first ranker's figure, `after` this one's, on the same changed pools.",
    "other meaning": "`score falls`: how often a right answer scores less once its numbers are others. "
    "`roles swapped`: questions such as *Who beat B?* with *A beat B* and *B beat A*. A ranker that takes no "
    "notice has one half in both.",
}


def write_page(found: Robustness, folder: str | Path, made: Mapping[str, Any] | None = None) -> Path:
    """Write ``robust.json``, ``robust.md`` and ``robust.svg`` into a folder; the page's path comes back.

    What is said of how it was `made` stands in ``robust.json``.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    with replacing(place / "robust.json") as file:
        json.dump({"made": dict(made or {}), **found.to_json()}, file, ensure_ascii=False, indent=1)
    draw(found, place / "robust.svg")
    page = place / "robust.md"
    with replacing(page) as file:
        file.write(markdown(found))
    return page


def markdown(found: Robustness) -> str:
    """The page."""
    names = ", ".join(f"`{name}`" for name in found.rankers)
    parts = [
        f"# Robustness on {found.data or 'these pools'}",
        f"{names}: {count_of(found.pools, 'pool')} with right and wrong answers, convention `fixed`, "
        f"{count_of(found.seeds, 'seed')}. Differences have 95 % intervals; p is of a paired permutation "
        "test over pools, corrected by Holm over the whole suite.",
        "![P@1 by the share of texts with typos](robust.svg)",
    ]
    if not any(one.family == "overlap" for one in found.findings):
        parts += [f"## {TITLES['overlap']}", "Not measured: here no question is easy, or none is hard."]
    for family, rows in families(found.findings):
        parts += [f"## {TITLES[family]}", _SAID[family]]
        for name, of_one in groupby(rows, key=lambda one: one.ranker):
            parts += [f"`{name}`", _table(list(of_one))]
    return "\n\n".join(parts) + "\n"


def families(findings: Sequence[Finding]) -> list[tuple[str, list[Finding]]]:
    """The findings by family, in the order of the page."""
    order = list(TITLES)
    rows = sorted(findings, key=lambda one: order.index(one.family))
    return [(family, list(group)) for family, group in groupby(rows, key=lambda one: one.family)]


def cells(one: Finding) -> tuple[str, ...]:
    """A finding as the cells of a row."""
    difference = f"{one.difference:+.3f} ({one.low:+.3f}, {one.high:+.3f})"
    p = "–" if one.adjusted is None else "<.001" if one.adjusted < 0.001 else f"{one.adjusted:.3f}"
    figures = f"{one.pools:,}", f"{one.before:.3f}", f"{one.after:.3f}"
    return one.condition, one.measure, *figures, difference, p


HEADS = ("condition", "measure", "pools", "before", "after", "difference", "p")


def _table(rows: Sequence[Finding]) -> str:
    lines = ["| " + " | ".join(HEADS) + " |", "|---|---|" + "---:|" * 5]
    return "\n".join(lines + ["| " + " | ".join(cells(one)).replace("\n", " ") + " |" for one in rows])


def draw(found: Robustness, path: Path) -> None:
    """Draw P@1 by the share of answers, questions or both that have typos; a line for each ranker."""
    from demur.evaluation.plots.confidence import COLOURS, DASHES, MARKERS, legend, picture

    def figure(axes: Sequence[Axes]) -> None:
        for ax, where in zip(axes, ("answers", "questions", "both"), strict=True):
            for place, name in enumerate(found.rankers):
                points = {
                    one.condition: one
                    for one in found.findings
                    if (one.ranker, one.family, one.measure) == (name, "typos", "P@1")
                }
                line = [points[f"{s} % of {where}"] for s in SHARES if f"{s} % of {where}" in points]
                if len(line) < len(SHARES):
                    continue
                values = [line[0].before, *(one.after for one in line)]
                marker, dash = MARKERS[place % len(MARKERS)], DASHES[place % len(DASHES)]
                colour = COLOURS[place % len(COLOURS)]
                look: dict[str, Any] = {"marker": marker, "markersize": 3, "linestyle": dash, "color": colour}
                ax.plot([0, *SHARES], values, label=name[:40], **look)
            ax.set_title(f"typos in {where}", loc="left", fontsize=7, pad=2)
            ax.set_ylabel("P@1")
        axes[-1].set(xlabel="texts with typos, %", xticks=[0, *SHARES])
        if len(found.rankers) > 1:
            axes[0].set_title("")
            axes[0].text(0.01, 0.04, "typos in answers", transform=axes[0].transAxes)
            legend(axes[0], [name[:40] for name in found.rankers])

    picture(path, 4.0, 3, figure)
