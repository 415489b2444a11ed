"""InsuranceQA V1. Most answer texts are missing here, so every split but ``full/…`` is a reduced task.

Questions are word indices that the vocabulary decodes; an answer's text is looked up by its number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from demur.data.loaders import Loader, Split, binary, csv_rows, numbered, rows
from demur.types import Candidate, Pool

Texts = Callable[[Path, "dict[str, str]"], "dict[str, str]"]


def read_pools(split: str, texts: Texts, vocabulary: Path, answers: Path, pools: Path) -> Iterator[Pool]:
    """The pools of a file with the columns right answers, question, candidates; each candidate once.

    The training file has no candidates but the right answers; its columns are question, right answers.
    """
    words = dict(cells for _, cells in rows(vocabulary, 2))
    known = texts(answers, words)
    train = split.endswith("train")
    for number, (_, cells) in enumerate(rows(pools, 2 if train else 3), 1):
        question, right, ids = (cells[0], cells[1], cells[1]) if train else (cells[1], cells[0], cells[2])
        marked = set(right.split())
        present = [id for id in dict.fromkeys(ids.split()) if id in known]
        candidates = tuple(Candidate(id, known[id], int(id in marked)) for id in present)
        yield Pool(f"{split}-{number}", _decoded(question, words), candidates)


def resolved(answers: Path, words: dict[str, str]) -> dict[str, str]:
    """The texts of a file that holds them as words."""
    return dict(cells for _, cells in rows(answers, 2))


def indexed(answers: Path, words: dict[str, str]) -> dict[str, str]:
    """The texts of the original file, which holds them as word indices."""
    return {id: _decoded(text, words) for _, (id, text) in rows(answers, 2)}


def read_pairs(split: str, path: Path) -> Iterator[Pool]:
    """The labelled pairs of a CSV file, gathered by question."""
    pools: dict[str, list[tuple[str, int]]] = {}
    for place, (question, answer, label) in islice(csv_rows(path, 3, ","), 1, None):
        pools.setdefault(question, []).append((answer, binary(label, place)))
    for number, (question, pairs) in enumerate(pools.items(), 1):
        id = f"{split}-{number}"
        yield Pool(id, question, numbered(id, pairs))


def _decoded(text: str, words: dict[str, str]) -> str:
    return " ".join(words.get(index, index) for index in text.split())


def _files(answers: str, name: str) -> tuple[str, str, str]:
    pools = (
        "question.train.token_idx.label.gz" if name == "train" else f"question.{name}.label.token_idx.pool.gz"
    )
    return ("insuranceqa/vocabulary.gz", f"insuranceqa/{answers}", f"insuranceqa/{pools}")


def _split(prefix: str, name: str, texts: Texts, answers: str) -> Split:
    return Split(partial(read_pools, prefix + name, texts), _files(answers, name))


_NAMES = ("train", "dev", "test1", "test2")
LOADER = Loader(
    {name: _split("", name, resolved, "answers.partial.resolved.tsv.gz") for name in _NAMES}
    | {f"full/{name}": _split("", name, indexed, "answers.label.token_idx.gz") for name in _NAMES}
    | {
        f"pairs-{name}": Split(partial(read_pairs, f"pairs-{name}"), (f"insuranceqa/pairs-{name}.csv.gz",))
        for name in ("validation", "test")
    }
)
