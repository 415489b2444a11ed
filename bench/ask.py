"""`demur ask` as people meet it: the first answer, each one after, and memory, with mini; and many passages.

`DEMUR_MODEL` names another ranker to be asked in the place of mini.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from bench.common import Row, below, seconds, seconds_once, sentences, told
from demur.asking import Library, Passage, Session, packaged
from demur.asking.example import passages, pools

PASSAGES, WORDS, QUESTIONS = 100_000, 40, 100
MINI = os.environ.get("DEMUR_MODEL", "mini(threads=2)")
COLD, WARM, MEMORY = 2.0, 0.15, 500.0  # seconds, seconds, megabytes


def run() -> list[Row]:
    """All rows."""
    return [*mini(), *large()]


def mini() -> list[Row]:
    """Rows for mini, in processes of their own: nothing that a benchmark imports counts."""
    if MINI.startswith(packaged.NAME) and not packaged.there():
        return [told("mini", "skipped: it did not come with this copy of demur")]
    question = next(pools()).question
    words = ["ask", question, "--example", "--ranker", MINI, "--json"]
    command = [sys.executable, "-m", "demur", *words]
    cold = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
    asked = [sys.executable, "-m", "bench.ask", "warm"]
    found = json.loads(subprocess.run(asked, check=True, stdout=subprocess.PIPE).stdout)
    times = found["seconds"]
    what = f"{found['candidates']:.0f} candidates of {WORDS} words"
    rows = [
        below("demur ask with mini, process and all: to the first answer", cold, COLD),
        below(f"each question after, {what}: p50", statistics.median(times), WARM),
        told("  p95", f"{1000 * statistics.quantiles(times, n=20)[-1]:.1f} ms"),
    ]
    met = found["peak"] < MEMORY
    memory = Row(what="memory, at most", found=f"{found['peak']:.0f} MB", goal=f"< {MEMORY:.0f} MB", met=met)
    return [*rows, memory]


def warm() -> dict[str, object]:
    """The seconds of each question about the handbook, once all is open, and what memory that took."""
    import resource

    texts = [passage.text for passage in passages()]
    words = " ".join(texts).split()
    cut = [" ".join(words[at : at + WORDS]) for at in range(0, len(words) - WORDS, 2)]
    library = Library([Passage(str(number), text) for number, text in enumerate(cut)])
    session = Session.open(library, MINI, gate="none")
    questions = [pool.question for pool in pools()]
    session.ask(questions[0], top=50)
    sizes = [len(library.search().find(question)) for question in questions]
    full = [question for question, size in zip(questions, sizes, strict=True) if size == max(sizes)]
    times = [seconds_once(lambda q=question: session.ask(q)) for question in full * 2]  # type: ignore[misc]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return {
        "seconds": times,
        "candidates": max(sizes),
        "peak": peak / unit,
    }


def large() -> list[Row]:
    """Rows for many passages of about 40 words, found by BM25 alone."""
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
        session = Session.open(plain, "bm25")
    times = [seconds_once(lambda q=question: session.ask(q)) for question in questions]  # type: ignore[misc]
    rows.append(below("each question after, median", statistics.median(times), 0.1))
    rows.append(below("each question after, slowest of 100", max(times), 0.1))
    return rows


def _ask(question: str, path: Path) -> None:
    words = ["ask", question, "--from", str(path), "--ranker", "bm25", "--json"]
    subprocess.run([sys.executable, "-m", "demur", *words], check=True, capture_output=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["warm"]:
        print(json.dumps(warm()))
    else:
        for row in run():
            print(row["what"], row["found"], "goal", row["goal"], "" if row["met"] else "MISSED")
