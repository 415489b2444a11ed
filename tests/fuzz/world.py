"""A small folder of good files of all kinds, to be given to verbs, to be damaged, and to be written into."""

from __future__ import annotations

import atexit
import csv
import io
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import demur
from demur.data import formats
from demur.embedders.word_vectors.table_formats import write_table
from demur.embedders.word_vectors.tables import table as vectors_in
from demur.evaluation import evaluate
from demur.kb.folder import KnowledgeBase
from demur.risk.sets import answer_sets
from demur.types import Pool
from golden.datasets import TEXTS
from kb_files import docx, paragraph, pdf, table
from laws import toys
from risk import questions

SAVED = Path(__file__).parents[1] / "saved" / "0.1"
MARKDOWN = "# Loans\n\nA drill is lent.\n\n## Fees\n\n| what | fee |\n|---|---|\n| saw | 2 |\n\n- a\n- b\n"
PAGE = (
    "<html><head><title>T</title></head><body><h1>Loans</h1><p>A drill is lent.</p><ul><li>a<li>b</ul>"
    "<dl><dt>How long?<dd>A week.</dl><table><tr><td>saw<td>2</table>"
    "<details><summary>Q?</summary>A.</details>"
    "</body></html>"
)
RECIPE = """trainer = 'siamese(features="words(vectors=vectors.txt)", epochs=1)'
seed = 1

[[stage]]
data = "pools.jsonl"
questions = 4
"""
TABLE = (
    'paper = "toy"\ntable = "table1"\ntitle = "T"\nmeasures = ["MAP"]\nconventions = ["fixed"]\n'
    'differs = "Nothing."\n\n[[column]]\nname = "example"\ndata = "example/questions"\n\n'
    '[[row]]\nname = "length"\nranker = "length"\n'
)


def pools() -> list[Pool]:
    """Labelled pools of a few words."""
    return [
        Pool.of(f"where is the {one}?", [f"the {one} is here", "it rained", f"{one} saw"], [1, 0, 0], id=one)
        for one in ("drill", "ship", "cape", "goat", "hay", "corn")
    ]


def _make(folder: Path) -> None:
    small, many = pools(), questions.pools(60, wrong=0.2)
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerows([["id", "question", "answer"], ["1", "How long?", "A week."], ["2", "How much?", "Two."]])
    written: dict[str, str | bytes] = {
        "faq.md": MARKDOWN,
        "faq.csv": text.getvalue(),
        "faq.jsonl": '{"question": "How long?", "answer": "A week."}\n{"text": "A saw is not lent."}\n',
        "faq.txt": "A drill is lent.\n\nA saw is not.\n",
        "page.html": PAGE,
        "page.docx": docx(
            paragraph("Loans", "Heading1") + paragraph("A drill is lent.") + table([["a", "b"]])
        ),
        "page.pdf": pdf([[(20, "Loans"), (11, "A drill is lent for a week.")]]),
        "candidates.txt": "the drill is here\nit rained\n",
        "answers.json": '{"a": "Ada", "b": ""}',
        "recipe.toml": RECIPE,
        "experiments/toy/table1.toml": TABLE,
        "pyproject.toml": "",
        "vectors.txt": Path(toys.vectors()).read_bytes(),
        "squad.json": TEXTS["squad"](""),
        "beir/corpus.jsonl": '{"_id": "d", "title": "T", "text": "the drill is here"}\n',
        "beir/queries.jsonl": '{"_id": "q", "text": "where is the drill?"}\n',
        "beir/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq\td\t1\n",
        "tevatron.jsonl": '{"query_id": "q", "query": "who?", "positive_passages": [{"docid": "d", "title":'
        ' "", "text": "Ada"}], "negative_passages": [{"docid": "e", "title": "T", "text": "Bo"}]}\n',
        "bge.jsonl": '{"query": "who?", "pos": ["Ada"], "neg": ["Bo", "Cy"]}\n',
        "sentence-transformers.jsonl": '{"anchor": "who?", "positive": "Ada", "negative": "Bo"}\n',
        "keys": "abc\n",
        "empty": b"",
        "binary": bytes(range(256)),
        "qrels.txt": "drill 0 0 1\nship 0 0 1\n",
        "scores.run": "drill Q0 0 1 2.0 x\ndrill Q0 1 2 1.0 x\nship Q0 0 1 3.0 x\n",
    }
    for name, content in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    for name in ("pools.jsonl", "pools.csv", "pools.tsv", "pools.parquet"):
        formats.write_pools(folder / name, small)
    formats.write_pools(folder / "many.jsonl", many)
    evaluate("bm25", small, "MAP, P@1", data="small").write(folder / "a.json")
    evaluate("length", small, "MAP, P@1", data="small").write(folder / "b.json")
    demur.calibrate("bm25", many, risk=0.4).save(folder / "gate.json")
    answer_sets("bm25", many, 0.9).save(folder / "sets.json")
    for ending in ("bin", "npz", "safetensors"):
        write_table(folder / f"vectors.{ending}", vectors_in(folder / "vectors.txt"))
    kb = KnowledgeBase(folder / "base.kb")
    kb.add([folder / "faq.md", folder / "faq.txt"])
    kb.close()
    shutil.copytree(SAVED / "siamese", folder / "siamese")
    shutil.copytree(SAVED / "onnx", folder / "onnx")


@cache
def world() -> Path:
    """The folder, made once."""
    made = tempfile.TemporaryDirectory(prefix="demur-fuzz-")
    atexit.register(made.cleanup)
    _make(Path(made.name))
    return Path(made.name)


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of it, gone after the block."""
    with tempfile.TemporaryDirectory(prefix="demur-fuzz-") as place:
        yield Path(shutil.copytree(world(), Path(place) / "world"))
