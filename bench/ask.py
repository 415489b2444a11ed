"""`demur ask` over 100,000 passages of about 40 words: the whole command, and each question after."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from bench.common import Row, below, seconds_once, sentences
from demur.asking import Library, read_documents

PASSAGES, WORDS, QUESTIONS = 100_000, 40, 100


def run() -> list[Row]:
    """All rows."""
    texts = sentences(PASSAGES, WORDS)
    draw = random.Random(0)
    questions = [" ".join(draw.sample(draw.choice(texts).split(), 8)) for _ in range(QUESTIONS)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        plain, markdown = Path(folder, "passages.txt"), Path(folder, "passages.md")
        plain.write_text("\n\n".join(texts), encoding="utf-8")
        sections = (textwrap.fill(text, 80) for text in texts)
        markdown.write_text(
            "\n\n".join(f"## Part {n}\n\n{s}" for n, s in enumerate(sections)), encoding="utf-8"
        )
        for path in (plain, markdown):
            taken = seconds_once(lambda path=path: _ask(questions[0], path))  # type: ignore[misc]
            rows.append(
                below(f"demur ask over 100,000 passages in {path.suffix}, process and all", taken, 10)
            )
        library = Library(read_documents(plain))
    times = [seconds_once(lambda q=question: library.ask(q)) for question in questions]  # type: ignore[misc]
    rows.append(below("each question after, median", statistics.median(times), 0.1))
    rows.append(below("each question after, slowest of 100", max(times), 0.1))
    return rows


def _ask(question: str, path: Path) -> None:
    command = [sys.executable, "-m", "demur", "ask", question, "--from", str(path), "--json"]
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    for row in run():
        print(row["what"], row["found"], "goal", row["goal"], "" if row["met"] else "MISSED")
