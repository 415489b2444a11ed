"""What the scripts of examples/ read: `PYTHONPATH=tests python -m example_files` writes both files."""

from __future__ import annotations

import csv
import io
import textwrap
from pathlib import Path

import numpy as np

import demur
from kb_files import pdf

EXAMPLES = Path(__file__).parents[1] / "examples"
CHAPTER = Path(demur.__file__).parent / "example" / "handbook" / "borrowing.md"
_SIZES = {"# ": 18, "## ": 13}  # of letters; others are headings of no kind
_LINES = 42  # on a page


def handbook() -> bytes:
    """A chapter of the handbook as a PDF."""
    lines: list[tuple[int, str]] = []
    for block in CHAPTER.read_text("utf-8").split("\n\n"):
        mark = next((each for each in _SIZES if block.startswith(each)), "")
        rows = block.splitlines() if block.startswith("- ") else textwrap.wrap(block.removeprefix(mark), 90)
        lines += [(_SIZES.get(mark, 10), row.translate({40: r"\(", 41: r"\)"})) for row in rows] + [(10, "")]
    return pdf([lines[begin : begin + _LINES] for begin in range(0, len(lines), _LINES)])


def scores(questions: int = 400) -> str:
    """Made-up scores of a system that is right four times in five, as CSV."""
    draw = np.random.default_rng(0)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["question", "answer", "score", "label"])
    for number in range(1, questions + 1):
        right = draw.random() < 0.8
        for name, label in (("a", int(right)), ("b", 0)):
            score = draw.normal(3.0 if label else 0.0)
            rows.writerow([f"question {number}", f"answer {number}{name}", f"{score:.3f}", label])
    return text.getvalue()


if __name__ == "__main__":
    (EXAMPLES / "handbook.pdf").write_bytes(handbook())
    (EXAMPLES / "scores.csv").write_text(scores(), "utf-8")
