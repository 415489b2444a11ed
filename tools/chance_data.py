"""What `tools.make_chance` learns from and is tested on: the signals of candidates of labelled questions."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from demur.asking.library import Library
from demur.asking.meaning import chance
from demur.asking.meaning.finding import FoundPassages, find, lacks_of
from demur.asking.meaning.lacks import LACKS
from demur.data import pools
from demur.data.subsets import sample
from demur.kb.passages import Passage
from demur.reading.readers.mini import Mini
from demur.training.readers.mini_confidence import among_others
from demur.types import Candidate, FloatArray, Pool
from tools.chance_misses import near_misses
from tools.written import SHELVES, WRITTEN_BOOKS, WRITTEN_FAQS, is_written, written

BOOKS = tuple(f"{WRITTEN_BOOKS}chance, {shelf}" for shelf in SHELVES)
"""Handbooks are what `ask` is for, so they count as four sets."""
LEARN = {
    "wikiqa/dev": 300,
    "trecqa/dev": 90,
    "selqa/dev": 300,
    "antique/dev": 200,
    "semeval2016/dev": 250,
    "squad/2.0/train/held": 400,
    **dict.fromkeys(BOOKS, 140),
}
AS_FAQ = " as an FAQ"
MISSED = "near misses"
FAQ_LEARN = {
    f"semeval2016/train-part2{AS_FAQ}, even": 172,
    f"semeval2016/train-part2{AS_FAQ}, even, turned": 172,
    f"semeval2016/train-part2{AS_FAQ}, even, {MISSED}": 172,
    f"{WRITTEN_FAQS}chance": 300,
}
"""Of these is learnt what is known of rows with a question of their own. `even` is every other thread: the
gates are calibrated on the others. `turned` asks the bodies, of an FAQ of the subjects (see `rows_of`)."""
TEST = {
    "wikiqa/test": 633,
    "trecqa/test": 100,
    "semeval2016/test": 327,
    "selqa/test": 220,
    "antique/test": 120,
    "covidfaq/test": 1073,
    f"semeval2016/test{AS_FAQ}": 327,
    f"selqa/test{AS_FAQ}": 158,
    f"{WRITTEN_FAQS}test": 180,
    "fiqa/test": 120,
    "squad/2.0/dev": 300,
    "example/questions": 40,
    f"{WRITTEN_BOOKS}test": 560,
}
FAQS = ("covidfaq/test", f"semeval2016/test{AS_FAQ}", f"{WRITTEN_FAQS}test", f"selqa/test{AS_FAQ}")
"""Those of them whose candidates have questions of their own."""
NEAR_MISSES = f"{FAQS[-1]}, {MISSED}"
"""As they are learnt from, on a test set."""
"""So many questions are drawn of each, and those with a right answer taken: reading all would take hours."""
DEPTH = 24  # candidates of a pool that are looked at: those nearest by words and by meaning
LARGE = {
    "covidfaq/test": 12,
    "antique/dev": 12,
    "antique/test": 12,
    "fiqa/test": 12,
    "example/questions": 12,
    "squad/2.0/dev": 12,
    "squad/2.0/train/held": 12,
    **dict.fromkeys(BOOKS, 12),
    f"{WRITTEN_BOOKS}test": 12,
}
"""Where many are found, only as many as `ask` reads."""
ALL = 10_000
"""More passages than any article of SQuAD has."""


@dataclass(frozen=True)
class Seen:
    """The candidates of a question: their signals (`chance.READ`, then `lacks.LACKS`), and labels."""

    table: FloatArray
    right: FloatArray
    positives: int  # also those that were not found


def seen(name: str, count: int, cache: Path) -> list[Seen]:
    """The questions of a set with a right answer; kept in a folder, as reading takes minutes."""
    file = cache / f"{name.replace('/', '-')}-{count}.npz"
    if not file.is_file():
        found = list(_seen(name, count))
        cache.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {f"table{n}": each.table for n, each in enumerate(found)}
        arrays |= {f"right{n}": each.right for n, each in enumerate(found)}
        np.savez(file, positives=np.array([each.positives for each in found]), **arrays)
        print(name, len(found), file=sys.stderr, flush=True)
    kept_there = np.load(file, allow_pickle=False)
    return [
        Seen(kept_there[f"table{n}"], kept_there[f"right{n}"], int(positives))
        for n, positives in enumerate(kept_there["positives"])
    ]


def _seen(name: str, count: int) -> Iterator[Seen]:
    mini = Mini()
    for pool, library in asked_of(name, count):
        if pool.positives > 0 or MISSED in name or is_written(name):
            read = name not in (*FAQ_LEARN, NEAR_MISSES)
            found = _signals(pool, library, mini if read else None, LARGE.get(name, DEPTH))
            if len(found.right):
                yield found


def asked_of(name: str, count: int) -> Iterator[tuple[Pool, Library]]:
    """The questions of a set, and what each is asked of."""
    if is_written(name):
        return written(name)
    some = as_faq(rows_of(name)) if AS_FAQ in name else beside(drawn(name, count), name)
    return near_misses(some) if MISSED in name else some


def rows_of(name: str) -> Iterator[tuple[Passage, str | None]]:
    """The rows of an FAQ that is made of a set, and what is asked of each, if anything is."""
    made_of, _, how = name.removesuffix(f", {MISSED}").partition(AS_FAQ)
    if made_of.startswith("selqa"):
        return _paraphrased(made_of)
    half = 0 if "even" in how else 1
    some = [pool for number, pool in enumerate(pools(made_of)) if not how or number % 2 == half]
    return _of_threads(some, turned="turned" in how)


def _of_threads(threads: Iterable[Pool], turned: bool) -> Iterator[tuple[Passage, str | None]]:
    """Rows of an FAQ made of threads, and what is asked of each.

    A row is a thread's body, as the question, with its best comment as the answer; the thread's subject is
    asked. `turned`, the subject is the row's question and the body is asked.
    """
    for thread in threads:
        subject = str(thread.extra["subject"])
        body = thread.question.removeprefix(subject).strip() or subject
        question, asked = (subject, body) if turned else (body, subject)
        best = next((each.text for each in thread.candidates if each.label), None)
        if best is not None:
            yield Passage(thread.id, best, heading=question, question=question), asked


def _paraphrased(name: str) -> Iterator[tuple[Passage, str | None]]:
    """Rows of an FAQ made of SelQA's questions with their sentences, and paraphrases of some."""
    same: dict[tuple[str, ...], list[Pool]] = {}
    for pool in pools(name):
        key = str(pool.extra["article"]), str(pool.extra["section"]), *_right(pool)
        same.setdefault(key, []).append(pool)
    for group in same.values():
        first, again = (
            next((pool for pool in group if pool.extra["is_paraphrase"] is which), None)
            for which in (False, True)
        )
        if first is not None:
            row = Passage(first.id, " ".join(_right(first)), heading=first.question, question=first.question)
            yield row, None if again is None else again.question


def _right(pool: Pool) -> list[str]:
    return [each.text for each in pool.candidates if each.label]


def as_faq(rows: Iterable[tuple[Passage, str | None]], away: int = 0) -> Iterator[tuple[Pool, Library]]:
    """What is asked of an FAQ with these rows, and the FAQ.

    One of every so many that are asked is taken `away`, so that it has no answer there.
    """
    kept: list[Passage] = []
    asks: list[tuple[Passage, str, bool]] = []
    for row, asked in rows:
        there = not away or len(asks) % away > 0 or asked is None
        if there:
            kept.append(row)
        if asked is not None:
            asks.append((row, asked, there))
    library = Library(kept)
    for row, asked, there in asks:
        yield Pool(row.id, asked, (Candidate(row.id, row.searched if there else "", int(there)),)), library


def drawn(name: str, count: int) -> list[Pool]:
    """The questions that are drawn of a set; of SQuAD among all passages of their articles."""
    every: Sequence[Pool] = pools(name)
    return list(sample(among_others(every, others=ALL) if name.startswith("squad") else every, count))


def beside(some: Iterable[Pool], name: str) -> Iterator[tuple[Pool, Library]]:
    """Each question, and its candidates as a library; those of covidfaq as rows of an FAQ."""
    answers = {}
    if name == "covidfaq/test":
        answers = {each.id: each.text for each in next(iter(pools("covidfaq/test/answers-only"))).candidates}
    libraries: dict[tuple[str, ...], Library] = {}
    for pool in some:
        there = sorted(pool.candidates, key=lambda one: one.id)
        texts = tuple(each.text for each in there)
        if texts not in libraries:
            libraries.clear()
            libraries[texts] = Library([_passage(each.id, each.text, answers) for each in there])
        yield pool, libraries[texts]


def _passage(id: str, text: str, answers: dict[str, str]) -> Passage:
    """The candidate as a passage; the questions of an FAQ stand above its answer."""
    answer = answers.get(id, text)
    return Passage(
        id, answer, heading=text.removesuffix(answer).strip(), question=text.removesuffix(answer).strip()
    )


def _signals(pool: Pool, library: Library, mini: Mini | None, depth: int) -> Seen:
    """What is known of the candidates; without mini nothing of what it says, which has no say in an FAQ."""
    right = {each.text.strip() for each in pool.candidates if (each.label or 0) >= 1}
    found = find(library, pool.question, depth)
    passages = [library.passage(place) for place in found.places.tolist()]
    scores = sure = np.full(len(passages), 0.5)
    if mini is not None:
        looks = mini.look(pool.question, [each.searched for each in passages])
        scores, sure = (np.array([getattr(each, name) for each in looks]) for name in ("score", "confidence"))
    labels = np.array(
        [float(each.searched.strip() in right or each.text.strip() in right) for each in passages]
    )
    table = np.column_stack(
        [chance.read_signals(found.signals, scores, sure), _lacks(pool.question, library, found, labels)]
    )
    return Seen(table, labels, len(right))


def _lacks(question: str, library: Library, found: FoundPassages, right: FloatArray) -> FloatArray:
    """What the question has that the rows lack which may be first, also once the right ones are removed."""
    lacks = np.zeros((len(right), len(LACKS)))
    _, meaning, text = found.signals.T
    seen_if = np.zeros(len(right)), np.where(right > 0, -np.inf, 0)
    likely = [each + gone for each in (meaning, text, meaning + text) for gone in seen_if if len(right)]
    for at in {int(each.argmax()) for each in likely}:
        if found.own[at]:
            parts = found.places[found.alike == found.alike[at]]
            lacks[at] = lacks_of(library, question, parts, int(found.places[at]))
    return lacks
