"""SemEval 2016 task 3, subtask A (English): forum threads, each a question with its first ten comments.

Good comments are positive; PotentiallyUseful and Bad ones are negative, as the task's scorer has it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from demur import files
from demur.data.loaders import Loader, Split, shaped
from demur.data.subsets import SAYS_MUCH
from demur.errors import DataError
from demur.text import tokenize
from demur.types import Candidate, Pool

TRAIN_2015 = 2480  # threads of the 2015 training data at the head of the lemmatised file; dev and test follow
_APART = "semeval2015-dev-excluding-2016", "semeval2015-test-excluding-2016", "test-subtaskA", "dev-subtaskA"
_MARK = "RELC_RELEVANCE2RELQ"
_LEMMATISED = "semeval2016/semeval2015-lemmatised.jsonl.gz"


def read_xml(path: Path) -> Iterator[Pool]:
    """The pools of an XML file, one per thread."""
    import xml.etree.ElementTree as Xml

    try:
        root = Xml.fromstring(files.whole(path))
    except Xml.ParseError as error:
        line, _ = error.position
        raise DataError(f"not XML ({error})", path=path, line=line, fix="obtain the file again") from None
    with shaped(path):
        for thread in root.iter("Thread"):
            question = thread.findall("RelQuestion")[0]
            about = {
                "subject": question.findtext("RelQSubject", "").strip(),
                "category": question.attrib["RELQ_CATEGORY"],
            }
            comments = thread.iter("RelComment")
            yield Pool(
                question.attrib["RELQ_ID"],
                _joined(about["subject"], question.findtext("RelQBody", "")),
                tuple(
                    _candidate(c.attrib["RELC_ID"], c.findtext("RelCText", ""), c.attrib[_MARK])
                    for c in comments
                ),
                about,
            )


def read_apart(*paths: Path) -> Iterator[Pool]:
    """The pools of the first two files that share no text of many words with those of the others."""
    others = {words for path in paths[2:] for pool in read_xml(path) for words in _telling(pool)}
    for path in paths[:2]:
        yield from (pool for pool in read_xml(path) if others.isdisjoint(_telling(pool)))


def _telling(pool: Pool) -> set[tuple[str, ...]]:
    """The words of the pool's texts, with the question's body alone, too; short texts are passed over."""
    body = pool.question.removeprefix(str(pool.extra["subject"]))
    found = (tuple(tokenize(text)) for text in (pool.question, body, *pool.answers))
    return {words for words in found if len(words) >= SAYS_MUCH}


def read_jsonl(path: Path, count: int | None = None) -> Iterator[Pool]:
    """The pools of the lemmatised file of 2015, or the first `count` of them."""
    for number, line in islice(files.lines(path), count):
        with shaped(path, number):
            thread = json.loads(line)
            id = thread["qid"]
            comments = enumerate(thread["comments"], 1)
            candidates = tuple(_candidate(f"{id}_C{n}", c["text"], c["label"]) for n, c in comments)
            yield Pool(
                id,
                _joined(thread["subject"], thread["body"]),
                candidates,
                {"subject": thread["subject"].strip()},
            )


def _joined(subject: str, body: str) -> str:
    return " ".join(part for part in (subject.strip(), body.strip()) if part)


def _candidate(id: str, text: str, mark: str) -> Candidate:
    return Candidate(id, text.strip(), int(mark == "Good"), {"relevance": mark})


LOADER = Loader(
    {
        name: Split(read_xml, (f"semeval2016/{file}.xml.gz",))
        for name, file in {
            "train-part1": "train-part1-subtaskA",
            "train-part2": "train-part2-subtaskA",
            "dev": "dev-subtaskA",
            "test": "test-subtaskA",
            "dev-2015": "semeval2015-dev-excluding-2016",
            "test-2015": "semeval2015-test-excluding-2016",
        }.items()
    }
    | {
        "train-2015": Split(partial(read_jsonl, count=TRAIN_2015), (_LEMMATISED,)),
        "all-2015": Split(read_jsonl, (_LEMMATISED,)),
        "apart-2015": Split(read_apart, tuple(f"semeval2016/{file}.xml.gz" for file in _APART)),
    }
)
