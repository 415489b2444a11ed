"""Golden runs of loaders: what each makes of a few lines of our own in its format."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from demur import registry
from demur.experiments.models.cached_models import fingerprint
from demur.types import Pool

_ANTIQUE = {
    "collection": "2_0\td e\n9_9\tc\n",
    "scan": 'who?\td\t1\t4\nwho?\tc\t0\t1\nhow "so"?\ta\t0\t2\n',
    "queries": '1\thow "so"?\n2\twho?\n',
    "qrel": "2\tU0\t2_0\t4\n1 Q0 1_1 2\n2 Q0 9_9 1\n",
}
_THREAD = (
    '<xml><Thread THREAD_SEQUENCE="Q1_R2"><RelQuestion RELQ_ID="Q1_R2" RELQ_CATEGORY="Pets">'
    "<RelQSubject>Cats </RelQSubject><RelQBody>where?</RelQBody></RelQuestion>"
    '<RelComment RELC_ID="Q1_R2_C1" RELC_RELEVANCE2RELQ="PotentiallyUseful">'
    "<RelCText> a &amp; b </RelCText></RelComment>"
    '<RelComment RELC_ID="Q1_R2_C2" RELC_RELEVANCE2RELQ="Good"><RelCText>c</RelCText></RelComment>'
    "</Thread></xml>"
)
_FORUM = {"qid": "Q1", "subject": "cat", "body": "where", "comments": [{"text": "here", "label": "Good"}]}
_SELQA = {
    **{"question": "q?", "article": "A", "section": "S", "topic": "ART", "q_types": ["who"]},
    **{"is_paraphrase": False, "candidates": ["a", " ", "b"], "answers": [2]},
}
_QUESTIONS = [
    {"id": "a", "question": "who?", "answers": [{"text": "Ada", "answer_start": 0}], "is_impossible": False},
    {"id": "b", "question": '"is ""it"" so?"', "answers": [], "is_impossible": True, "align_margin": 3.0},
]
_SQUAD = {"data": [{"title": "T", "paragraphs": [{"context": "Ada wrote it. It is so.", "qas": _QUESTIONS}]}]}
_QUERY = {
    **{"query_id": 7, "query": "who?", "answer": ["Ada", "Bo"]},
    "passages": [{"passage_id": 1, "passage_text": "It was Ada."}, {"passage_text": "Nobody."}],
}
_TREC = (
    "<QApairs id='32.1'>\n<question>\nWho\t?\nWP\t.\n</question>\n<positive>\nAda\t.\nNNP\t.\n</positive>\n"
    "<negative>\nBob\t.\nNNP\t.\n</negative>\n</QApairs>\n"
)

TEXTS: dict[str, Callable[[str], str]] = {
    "antique": lambda file: next(text for name, text in _ANTIQUE.items() if name in file),
    "asnq": lambda file: "q\ts\t1\nq\tt\t4\nr\tu\t3\n",
    "covidfaq": lambda file: {
        "covidfaq/answers.tsv.gz": "1\tStay in.\n2\tWash.\n",
        "covidfaq/queries.tsv.gz": "1\t2\tclean?\n2\t1,2\twhat now?\n",
        "covidfaq/questions.tsv.gz": "1\tMay I go out?\n2\tHow?\n",
    }[file],
    "fiqa": lambda file: {
        "fiqa/questions.tsv.gz": "\tqid\tquestion\ttimestamp\n0\t3\tone?\tx\n1\t4\ttwo?\ty\n",
        "fiqa/qrels.tsv.gz": "\tqid\tdocid\n0\t3\t11\n1\t4\t12\n",
        "fiqa/split-qids.json": '{"train": [4], "test": [3]}',
        "fiqa/test-answers.tsv.gz": "11\tA\n12\tB\n",
    }[file],
    "insuranceqa": lambda file: next(
        text
        for part, text in {
            "vocabulary": "idx_1\twhat\nidx_2\thouse\n",
            "resolved": "7\ta fire\n8\tb\n",
            "answers.label": "7\tidx_1\n8\tidx_2 idx_1\n",
            "train": "idx_1 idx_2\t7\n",
            "question.": "7\tidx_1 idx_2\t8 7\n",
            "pairs": 'question,answer,label\nq,"a, b",1\nq,d,0\n',
        }.items()
        if part in file
    ),
    "selqa": lambda file: json.dumps([_SELQA]) if "json" in file else "q ?\ta\t0\nq ?\tb\t1\nr ?\tc\t0\n",
    "semeval2016": lambda file: json.dumps(_FORUM) + "\n" if "jsonl" in file else _THREAD,
    "sogourc": lambda file: json.dumps(_QUERY) + "\n",
    "squad": lambda file: json.dumps(_SQUAD),
    "squad-t": lambda file: json.dumps(_SQUAD),
    "trecqa": lambda file: "qid\tq\ta\tl\n7\tq?\tx y\t1\n7\tq?\tz\t0\n" if "tsv" in file else _TREC,
    "wikiqa": lambda file: "h\t" * 6 + "h\nQ1\tq?\tD1\tTi\tD1-0\ta b\t1\nQ1\tq?\tD1\tT\tD1-1\tc\t0\n",
    "yahoocqa": lambda file: "q#a#0\nr#b#1\nq#c#1\n",
}


def loaded(name: str) -> list[float]:
    """For each split and subset how many pools and answers there are, and a number that is their texts'."""
    loader = registry.find("dataset", name)
    found: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for split in loader.splits.values():
            places = []
            for number, file in enumerate(split.files):
                places.append(Path(folder) / f"{number}-{Path(file).name.removesuffix('.gz')}")
                places[-1].write_text(_text(name, file), "utf-8")
            pools: list[Pool] = list(split.read(*places))
            found += _told(pools)
            for subset in loader.subsets.values():
                found += _told(list(subset(pools)))
    return found


def _text(name: str, file: str) -> str:
    assert name in TEXTS, f"add a few lines in the format of {name!r} to TEXTS above, and run `make golden`"
    return TEXTS[name](file)


def _told(pools: list[Pool]) -> list[float]:
    extra = json.dumps([[pool.extra, [c.extra for c in pool.candidates]] for pool in pools], sort_keys=True)
    mixed = hashlib.sha256((fingerprint(pools) + extra).encode()).hexdigest()
    return [len(pools), sum(map(len, pools)), int(mixed[:4], 16)]


RUNS = {f"dataset {name}": partial(loaded, name) for name in registry.OURS["dataset"]}
