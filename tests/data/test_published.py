"""The real datasets against what their authors published. They run where DEMUR_DATA points at them."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from demur.data import check, dataset, pools, sources, stream
from demur.types import Pool

pytestmark = pytest.mark.data


def count(id: str) -> tuple[int, int]:
    sizes = [len(pool) for pool in stream(id)]
    return len(sizes), sum(sizes)


@pytest.mark.slow
def test_check_is_green_but_for_the_known_holes() -> None:
    found = check()
    assert {finding.state for finding in found} == {"ok", "known hole"}, [f for f in found if f.state != "ok"]
    assert len(found) > 100


def test_the_manifest_is_ours() -> None:
    manifest = json.loads((Path(os.environ["DEMUR_DATA"]) / "MANIFEST.json").read_text())
    assert manifest == {
        file: dict(said) for facts in sources.known().values() for file, said in facts.files.items()
    }


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        ("wikiqa/train", (2118, 20360)),
        ("wikiqa/train/answerable", (873, 8672)),
        ("wikiqa/test/clean", (237, 2341)),
        ("trecqa/test/nonempty", (95, 1517)),
        ("trecqa/test/clean", (68, 1442)),
        ("selqa/dev", (785, 9377)),
        ("antique/test", (200, 6589)),
        ("semeval2016/all-2015", (3090, 18298)),
        ("fiqa/test", (333, 333 * 865)),
        ("covidfaq/test", (1073, 1073 * 67)),
        ("yahoocqa/test", (239, 1200)),
    ],
)
def test_counts(id: str, expected: tuple[int, int]) -> None:
    assert count(id) == expected


def test_ids_are_unique_within_a_split_and_candidates_within_a_pool() -> None:
    names = "wikiqa trecqa selqa antique semeval2016 fiqa yahoocqa insuranceqa covidfaq"
    for name in names.split():
        for split, found in dataset(name).pools.items():
            if any(sources.find_file(file) is None for file in found.files):
                continue
            kept: list[Pool] = list(found.stream())
            assert len({pool.id for pool in kept}) == len(kept), (name, split)
            assert all(len({c.id for c in pool.candidates}) == len(pool) for pool in kept), (name, split)


@pytest.mark.parametrize("name", ["wikiqa", "antique"])
def test_one_candidate_id_is_one_text(name: str) -> None:
    texts: dict[str, str] = {}
    for split in ("dev", "test"):
        for pool in dataset(name)[split]:
            for candidate in pool.candidates:
                assert texts.setdefault(candidate.id, candidate.text) == candidate.text
    assert len(texts) > 8000


def test_short_empties_1221_answers() -> None:
    assert sum(text == "" for pool in stream("trecqa/train-all/short") for text in pool.answers) == 1221


def test_selqa_says_the_same_in_both_editions() -> None:
    for cased, tokens in zip(pools("selqa/test"), pools("selqa/test/tokens"), strict=True):
        assert cased.id == tokens.id
        assert cased.labels == tokens.labels
        assert ["".join(text.split()) for text in cased.answers] == [
            "".join(text.split()) for text in tokens.answers
        ]


def test_semeval_dev_is_what_the_official_scorer_has() -> None:
    with gzip.open(
        Path(os.environ["DEMUR_DATA"]) / "semeval2016/scorer-dev-subtaskA.relevancy.gz", "rt"
    ) as file:
        gold = [line.rstrip("\n").split("\t") for line in file]
    ours = [
        (pool.id, c.id, str(c.label == 1).lower())
        for pool in stream("semeval2016/dev")
        for c in pool.candidates
    ]
    assert ours == [(id, comment, label) for id, comment, _, _, label in gold]


def test_the_lemmatised_threads_have_the_ids_and_labels_of_the_originals() -> None:
    tail = list(stream("semeval2016/all-2015"))[2480:]
    originals = [*stream("semeval2016/dev-2015"), *stream("semeval2016/test-2015")]
    for ours, original in zip(tail, originals, strict=True):
        assert ours.id == original.id
        assert [(c.id, c.label) for c in ours.candidates] == [(c.id, c.label) for c in original.candidates]


def test_judgements_and_questions_of_the_reduced_tasks_are_whole() -> None:
    folder = Path(os.environ["DEMUR_DATA"])

    def lines(name: str) -> int:
        with gzip.open(folder / name) as file:
            return sum(1 for line in file if line.strip())

    assert lines("antique/antique-train.qrel.gz") == 27422
    assert lines("antique/antique-train-queries.txt.gz") == 2426
    assert lines("fiqa/qrels.tsv.gz") - 1 == 17110
    assert lines("fiqa/questions.tsv.gz") - 1 == 6648


@pytest.mark.slow
def test_strict_is_a_part_of_2_0_and_quotes_are_whole() -> None:
    kept = {pool.id for pool in stream("squad/2.0/train/strict")}
    assert len(kept) == 125640
    unanswerable = [pool.question for pool in stream("squad/2.0/train") if not pool.positives]
    assert len(unanswerable) == 43498
    assert not any('""' in question for question in unanswerable)


@pytest.mark.slow
def test_squad_t() -> None:
    found = list(stream("squad-t/dev"))
    assert len(found) == 10570
    assert all(pool.positives for pool in found)
    assert count("squad-t/train/sample-26000")[0] == 26000
    assert sum(pool.positives == 0 for pool in stream("squad-t/2.0/dev")) == 5945


def test_a_fresh_process_loads_without_rankers_and_measures() -> None:
    """What makes it quick; `make bench` says how quick."""
    others = ("scipy", "rich", "typer", "onnxruntime", "demur.rankers", "demur.evaluation", "demur.cli")
    code = f"import sys, demur; len(demur.load('wikiqa/train')); print(set({others!r}) & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"
