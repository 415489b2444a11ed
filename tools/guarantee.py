"""Tests the gate's promise in full (`make guarantee`), and writes the page and the picture about it."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from demur.editions import editions
from demur.experiments.results import provenance
from demur.files import replacing
from demur.risk.thresholds.guarantee import DRAWS, RULES, Cell, everything, faults
from demur.risk.thresholds.populations import populations

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "results" / "risk" / "guarantee.json"
SEED = 0
EDITIONS = editions(["table guarantee"])
INTRODUCTION = """# The guarantee, tested

A gate for a risk of r promises, with confidence 1 - δ, that at most r of its answers are wrong. Here that
is tested where the truth is known: populations are made up, questions are drawn and labelled, each rule
makes its threshold, and the true risk there is worked out, {draws:,} times over. A cell shows how often
the true risk was above r and, in small, the mean share of questions that are answered. A rule keeps its
promise if that happens on at most a share δ of draws; **bold** is more than luck allows ({limits}).

- *gate* is what `demur.calibrate` does: a tenth of the labelled questions makes the thresholds, the
  others are tested on, Learn-then-Test from four starts, each with δ/4. With questions that nobody need
  label for the thresholds it answers more.
- *naive* is the usual rule, and the risk-control paper's: the loosest threshold at which few enough are
  wrong on the labelled questions themselves.
- *SGR, authors' code* is Geifman and El-Yaniv's program. It returns where its search stopped even if the
  bound is too high there, and it counts as if answers of equal confidence could be told apart.
- *Clopper-Pearson at each threshold* has a sound bound for each threshold, and then picks the loosest
  that does: nothing allows for the picking.

Populations:

{populations}

![How often each rule breaks its promise](guarantee.svg)
"""
MARKS = {  # colours that the colour-blind can tell apart, and shapes for those who print
    "gate": ("#0072b2", "circle"),
    "Clopper-Pearson at each threshold": ("#999999", "diamond"),
    "naive": ("#d55e00", "square"),
    "SGR, authors' code": ("#cc79a7", "triangle"),
}


def main() -> int:
    """Run everything, write the result, and say what is wrong with it: 0 if nothing is."""
    start = time.perf_counter()
    cells: list[Cell] = []
    for found in everything(DRAWS, SEED):
        cells += found
        gate, naive = found[0], next(cell for cell in found if cell.rule == "naive")
        print(
            f"{gate.population:<13} {gate.questions:>5} questions, risk {gate.risk:g}: gate {gate.violations}"
            f" ({gate.limit} allowed), coverage {gate.coverage:.2f}; naive {naive.violations}",
            flush=True,
        )
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    with replacing(RESULT) as file:
        about = {"seed": SEED, "draws": DRAWS, "commit": provenance.commit(), "editions": EDITIONS}
        rows = ",\n  ".join(json.dumps(asdict(cell)) for cell in cells)
        file.write(f'{{\n "about": {json.dumps(about)},\n "cells": [\n  {rows}\n ]\n}}\n')
    for name, make in {"guarantee.md": page, "guarantee.svg": picture}.items():
        (ROOT / "docs" / name).write_text(make(), "utf-8")
    wrong = faults(cells)
    print("\n".join(wrong) or f"kept: {len(cells)} cells in {time.perf_counter() - start:.0f} s")
    return int(bool(wrong))


def cells() -> list[Cell]:
    """The cells that were kept."""
    return [Cell(**row) for row in json.loads(RESULT.read_text("utf-8"))["cells"]]


def page() -> str:
    """`docs/guarantee.md`, from the kept cells."""
    found = cells()
    limits = {f"above {cell.limit / cell.draws:g} where δ is {cell.risk:g}" for cell in found}
    about = "\n".join(f"- *{each.name}*: {each.about}." for each in populations(0.1))
    parts = [
        "<!-- Written by `make guarantee`. Do not edit by hand. -->\n",
        INTRODUCTION.format(draws=found[0].draws, limits=", ".join(sorted(limits)), populations=about),
    ]
    for risk, questions in dict.fromkeys((cell.risk, cell.questions) for cell in found):
        these = {(c.population, c.rule): c for c in found if (c.risk, c.questions) == (risk, questions)}
        names = list(dict.fromkeys(population for population, _ in these))
        parts.append(f"## r = δ = {risk:g}, {questions:,} labelled questions\n")
        parts.append("| | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
        parts[-1] += "".join(
            f"\n| {rule.name} | " + " | ".join(_shown(these[name, rule.name]) for name in names) + " |"
            for rule in RULES
        )
        parts[-1] += "\n"
    return "\n".join(parts)


def _shown(cell: Cell) -> str:
    rate = f"{cell.violations / cell.draws:.3f}"
    return f"{rate if cell.kept else f'**{rate}**'} <sub>{cell.coverage:.2f}</sub>"


def picture() -> str:
    """`docs/guarantee.svg`: violation rates at 1,000 questions and a risk of 10 %, a row to a population."""
    found = [cell for cell in cells() if (cell.risk, cell.questions) == (0.1, 1000)]
    names = list(dict.fromkeys(cell.population for cell in found))
    left, top, width, step = 120, 62, 460, 34
    bottom = top + step * len(names)

    def across(rate: float) -> float:
        return left + width * rate

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 30} {bottom + 46}" '
        'font-family="system-ui, sans-serif" font-size="13" fill="#222">',
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for place, (rule, (colour, shape)) in enumerate(MARKS.items()):
        at, line = (20, 330)[place % 2], (18, 38)[place // 2]
        lines.append(f'{_mark(shape, colour, at, line - 4)}<text x="{at + 12}" y="{line}">{rule}</text>')
    lines.append(
        f'<rect x="{left}" y="{top}" width="{width / 10:g}" height="{bottom - top}" fill="#e8f1f8"/>'
    )
    for tenth in range(0, 11, 2):
        x = across(tenth / 10)
        lines.append(f'<path d="M{x:.1f} {top}V{bottom}" stroke="#ddd"/>')
        lines.append(f'<text x="{x:.1f}" y="{bottom + 17}" text-anchor="middle">{tenth / 10:g}</text>')
    lines.append(
        f'<text x="{across(0.5):.1f}" y="{bottom + 37}" text-anchor="middle">'
        "share of draws on which the promise was broken (shaded: as promised)</text>"
    )
    for row, name in enumerate(names):
        y = top + step * (row + 0.5)
        lines.append(f'<text x="{left - 12}" y="{y + 4:.1f}" text-anchor="end">{name}</text>')
        for cell in found:
            if cell.population == name and cell.rule in MARKS:
                colour, shape = MARKS[cell.rule]
                lines.append(_mark(shape, colour, across(cell.violations / cell.draws), y))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _mark(shape: str, colour: str, x: float, y: float) -> str:
    paths = {
        "circle": f"M{x - 6:.1f} {y:.1f}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0Z",
        "square": f"M{x - 5:.1f} {y - 5:.1f}h10v10h-10Z",
        "diamond": f"M{x:.1f} {y - 7:.1f}l7 7l-7 7l-7 -7Z",
        "triangle": f"M{x:.1f} {y - 7:.1f}l7 12h-14Z",
    }
    return f'<path d="{paths[shape]}" fill="{colour}" fill-opacity=".85"/>'


if __name__ == "__main__":
    sys.exit(main())
