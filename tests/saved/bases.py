"""Makes and reads what is saved beside models: a base with its gate, sets, confidence, vectors, reports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import demur
from demur import evaluation
from demur.embedders.word_vectors.table_formats import read_table, write_table
from demur.embedders.word_vectors.tables import Table
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from demur.reading.confidence import ConfidenceModel, names
from demur.risk import sets
from kb.base_toys import Hashing, found
from risk import questions

KITS = [f"kit{1000 + n}" for n in range(30)]
ASKED = (f"For how long is a {KITS[29]} lent?", "For how long is a drum lent?", "Do violins sleep?")
MEASURES = ["MAP", "RR", "P@1"]
SIGNALS = np.linspace(-2, 2, 21).reshape(3, 7)
POOLS = questions.pools(60, seed=4)


def make(folder: Path) -> None:
    """Write everything into a folder, and what it says into its answers.json."""
    kb = KnowledgeBase(folder / "tools.kb")
    texts = [Passage(f"{kit}:1", f"A {kit} is lent for {n + 2} days.", "guide") for n, kit in enumerate(KITS)]
    kb.put("guide", texts)
    for kit in KITS[:25]:
        question = f"For how long is a {kit} lent?"
        kb.label(question, int(kb.by_words(question, 1)[0][0]), 1)
    for thing in ("boat", "kite", "tent", "cart", "harp"):
        kb.label(f"For how long is a {thing} lent?", None, 0)
    kb.keep_questions(["Who has the key?"])
    kb.embed(Hashing())
    kb.close()
    words = ["calibrate", "bm25", "--kb", str(folder / "tools.kb"), "--risk", "0.2"]
    subprocess.run([sys.executable, "-m", "demur", *words], check=True)
    sets.answer_sets("bm25", POOLS, 0.8).save(folder / "sets.json")
    ranges = np.column_stack([np.full(7, -1.0), np.full(7, 1.0), np.linspace(0.1, 0.7, 7)])
    ConfidenceModel(tuple(names(1)), 0.3, ranges, {}).save(folder)
    for lock in (folder / "tools.kb").rglob("*.lock"):
        lock.unlink()
    write_table(folder / "words.safetensors", Table(["ship", "cape"], np.eye(2, 3, dtype=np.float32)))
    for name in ("bm25", "overlap"):
        evaluation.evaluate(name, POOLS, MEASURES).write(folder / f"{name}.json")
    (folder / "answers.json").write_text(json.dumps(said(folder), indent=1) + "\n", "utf-8")


def said(folder: Path) -> dict[str, Any]:
    """What the things in a folder say; the base is opened, and so written to."""
    kb = KnowledgeBase(folder / "tools.kb")
    answers = [plain(kb.ask(question)) for question in ASKED]
    labels = [[each.question, each.text, each.label] for each in kb.labels()]
    searched = [list(each) for each in found(kb, ASKED[0])]
    told = {"sources": [list(each) for each in kb.sources()], "to label": list(kb.questions())}
    kb.close()
    rule = sets.AnswerSets.load(folder / "sets.json")
    model = ConfidenceModel.load(folder, 1)
    assert model is not None
    table = read_table(folder / "words.safetensors")
    reports = {name: evaluation.Report.read(folder / f"{name}.json") for name in ("bm25", "overlap")}
    return {
        "answers": answers,
        "labels": labels,
        "searched": searched,
        **told,
        "sets": [
            rule.promise,
            *(len(rule.of(demur.ranker("bm25").rank(p.question, p.answers))) for p in POOLS),
        ],
        "sure": model.of(SIGNALS).tolist(),
        "words": [list(table.words), table.vectors.tolist()],
        "reports": {name: [each.mean for each in one.measures.values()] for name, one in reports.items()},
        "compared": [row.difference for row in evaluation.compare(reports).rows],
    }


def plain(result: demur.Answer | demur.Abstention) -> list[Any]:
    """What is promised, and the answer if there is one."""
    told = dict(result.certificate or {})
    text = result.candidate.text if isinstance(result, demur.Answer) else None
    return [text, result.confidence, *(told.get(key) for key in ("risk", "generation", "changed_since"))]


if __name__ == "__main__":
    make(Path(sys.argv[1]))
