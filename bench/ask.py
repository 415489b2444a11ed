"""`demur ask` as people meet it: the first answer, each one after, and memory; and many passages.

By meaning, as it comes, and with mini alone; `DEMUR_MODEL` names another ranker in place of mini.
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
from demur.asking.meaning.ranker import READ
from demur.asking.packaged import MEANING

PASSAGES, WORDS, QUESTIONS = 100_000, 40, 100
MINI = os.environ.get("DEMUR_MODEL", "mini(threads=2)")
COLD, WARM, MEMORY = 2.0, 0.15, 500.0  # seconds, seconds, megabytes


def run() -> list[Row]:
    """All rows."""
    return [*small(MINI), *small(MEANING), *large()]


def small(who: str) -> list[Row]:
    """Rows for a ranker, in processes of their own: nothing that a benchmark imports counts."""
    name = who.partition("(")[0]
    if name in (packaged.NAME, MEANING) and packaged.usual() != MEANING:
        return [told(name, "skipped: its models did not come with this copy of demur")]
    question = next(pools()).question
    words = ["ask", question, "--example", "--ranker", who, "--json"]
    command = [sys.executable, "-m", "demur", *words]
    cold = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
    asked = [sys.executable, "-m", "bench.ask", "warm", who]
    found = json.loads(subprocess.run(asked, check=True, stdout=subprocess.PIPE).stdout)
    times = found["seconds"]
    by = "by" if who == MEANING else "with"
    what = f"{found['candidates']:.0f} candidates of {WORDS} words"
    after = f"{what}, {READ} of them read" if who == MEANING else what
    lead = "asked by meaning: " if who == MEANING else ""
    rows = [
        below(f"demur ask {by} {name}, process and all: to the first answer", cold, COLD),
        below(f"{lead}each question after, {after}: p50", statistics.median(times), WARM),
        told("  p95", f"{1000 * statistics.quantiles(times, n=20)[-1]:.1f} ms"),
    ]
    met = found["peak"] < MEMORY
    memory = Row(
        what=f"{lead}memory, at most", found=f"{found['peak']:.0f} MB", goal=f"< {MEMORY:.0f} MB", met=met
    )
    return [*rows, memory]


def warm(who: str) -> dict[str, object]:
    """The seconds of each question about the handbook, once all is open, and what memory that took."""
    import resource

    texts = [passage.text for passage in passages()]
    words = " ".join(texts).split()
    cut = [" ".join(words[at : at + WORDS]) for at in range(0, len(words) - WORDS, 2)]
    library = Library([Passage(str(number), text) for number, text in enumerate(cut)])
    session = Session.open(library, who, gate="none")
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
    if sys.argv[1:2] == ["warm"]:
        print(json.dumps(warm(sys.argv[2])))
    else:
        for row in run():
            print(row["what"], row["found"], "goal", row["goal"], "" if row["met"] else "MISSED")
