"""Loaders of answers that people gave: in forums, on Yahoo, of insurance and of finance."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.loaded import Write, outline
from demur import data
from demur.data import binary, relevant
from demur.data.loaders.community import antique, covidfaq, fiqa, insuranceqa, semeval2016, yahoocqa
from demur.errors import DataError
from demur.types import Pool

THREAD = """<?xml version="1.0"?>
<!DOCTYPE xml [<!ELEMENT xml (Thread*)>]>
<xml version="1.0"><Thread THREAD_SEQUENCE="Q1_R2">
<RelQuestion RELQ_ID="Q1_R2" RELQ_CATEGORY="Pets"><RelQSubject>Cats </RelQSubject><RelQBody/></RelQuestion>
<RelComment RELC_ID="Q1_R2_C1" RELC_RELEVANCE2RELQ="PotentiallyUseful"><RelCText>
 a &amp; b </RelCText></RelComment>
<RelComment RELC_ID="Q1_R2_C2" RELC_RELEVANCE2RELQ="Good"><RelCText>c</RelCText></RelComment>
</Thread></xml>"""


def test_semeval_xml(write: Write) -> None:
    pools = list(semeval2016.read_xml(write("s.xml", THREAD)))
    assert outline(pools) == [("Q1_R2", "Cats", [("Q1_R2_C1", "a & b", 0), ("Q1_R2_C2", "c", 1)])]
    assert pools[0].candidates[0].extra == {"relevance": "PotentiallyUseful"}
    assert pools[0].extra == {"subject": "Cats", "category": "Pets"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (THREAD[:-7], r"s\.xml:\d+: not XML"),
        (THREAD.replace("RELQ_ID", "ID"), "'RELQ_ID'"),
        ("<x><Thread/></x>", "IndexError"),
    ],
)
def test_semeval_xml_that_is_broken_is_one_clear_line(write: Write, text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        list(semeval2016.read_xml(write("s.xml", text)))


def test_threads_that_share_a_long_text_with_others_are_left_out(write: Write) -> None:
    long, longer = "one may eat at all benches but this one", "nobody said how long the shop is open today"

    def thread(name: str, subject: str, body: str, comment: str) -> Path:
        text = THREAD.replace("Cats ", subject).replace("<RelQBody/>", f"<RelQBody>{body}</RelQBody>")
        return write(name, text.replace(" a &amp; b ", comment))

    known = thread("known.xml", "Dogs", long, longer)
    ways = {
        "new": (
            "Cats",
            "where do they eat, and where do they all sleep?",
            "not here, but in the shop over there",
        ),
        "short": ("Dogs", "eat", "open"),
        "body": ("Birds", long.upper(), "x"),
        "comment": ("Fish", "eat", f"{longer}!"),
    }
    left = [
        way
        for way, said in ways.items()
        if list(semeval2016.read_apart(thread("a.xml", *said), known, known))
    ]
    assert left == ["new", "short"]


def test_semeval_lemmatised(write: Write) -> None:
    thread = {"qid": "Q1", "subject": "cat", "body": "where", "comments": [{"text": "here", "label": "Good"}]}
    path = write("s.jsonl", json.dumps(thread), json.dumps(thread | {"qid": "Q2", "comments": []}), "{}")
    first = list(semeval2016.read_jsonl(path, count=2))
    assert outline(first) == [("Q1", "cat where", [("Q1_C1", "here", 1)]), ("Q2", "cat where", [])]
    with pytest.raises(DataError, match=r"s\.jsonl:3: .*'qid'"):
        list(semeval2016.read_jsonl(path))


@pytest.fixture
def judged(write: Write) -> tuple[Path, Path]:
    queries = write("queries.txt", '1\tsay "hi"?', "2\twho?")
    return queries, write("x.qrel", "2\tU0\t2_0\t4", "1 Q0 1_1 3", "1 Q0 9_9 2", "2 Q0 9_9 1")


def test_antique_as_the_scan_paper_has_it(write: Write, judged: tuple[Path, Path]) -> None:
    pairs = write(
        "scan.tsv",
        '"say ""hi""?"\t"a ""b"""\t1\t3',
        '"say ""hi""?"\tc\t0\t2',
        "who?\td\t1\t4",
        "who?\tc\t0\t1",
    )
    pools = list(antique.read_scan(pairs, *judged))
    assert outline(pools) == [
        ("1", 'say "hi"?', [("1_1", 'a "b"', 1), ("9_9", "c", 0)]),
        ("2", "who?", [("2_0", "d", 1), ("9_9", "c", 0)]),
    ]
    assert [c.extra["grade"] for p in pools for c in p.candidates] == [3, 2, 4, 1]
    assert [p.labels for p in antique.graded(pools)] == [[2, 1], [3, 0]]
    assert [p.labels for p in pools] == [[1, 0], [1, 0]]


def test_antique_by_grades_is_right_from_grade_3_on() -> None:
    ids = ("antique/test/graded", "antique/test/graded/clean", "antique/test")
    assert [relevant(data.pools(id)) for id in ids] == [2, 2, 1]
    graded = data.Pools("graded", (), lambda: iter([Pool.of("q", ["a", "b", "c"], [2, 1, None])]), relevant=2)
    assert [pool.labels for pool in binary(graded)] == [[1, 0, None]]
    plain = data.pools("antique/test")
    assert binary(plain) is plain


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("who?\td\t1\t3", "other grades"),
        ("whom?\td\t1\t4", "not in queries.txt"),
        ("who?\td\t1\t5", "grade '5'"),
        ("who?\td\t1", "3 columns"),
    ],
)
def test_antique_that_does_not_fit_its_judgements_is_refused(
    write: Write, judged: tuple[Path, Path], row: str, words: str
) -> None:
    with pytest.raises(DataError, match=f"scan.tsv:1: .*{words}"):
        list(antique.read_scan(write("scan.tsv", row), *judged))


def test_antique_in_full(write: Write, judged: tuple[Path, Path], caplog: pytest.LogCaptureFixture) -> None:
    collection = write("collection.txt", "2_0\td\te", "5_5\tnobody asked", "9_9\tc")
    pools = list(antique.read_full(collection, *judged))
    assert outline(pools) == [
        ("1", 'say "hi"?', [("9_9", "c", 0)]),
        ("2", "who?", [("2_0", "d\te", 1), ("9_9", "c", 0)]),
    ]
    assert "1 of 3 judged answers have no text here" in caplog.text
    with pytest.raises(DataError, match=r"c\.txt:1: no tab"):
        list(antique.read_full(write("c.txt", "2_0"), *judged))


def test_insuranceqa_reduced_and_in_full(write: Write) -> None:
    vocabulary = write("vocabulary", "idx_1\twhat", "idx_2\thouse", "idx_3\tfire")
    reduced, full = (
        write("a.tsv", "7\ta fire", "8\tb"),
        write("a.idx", "7\tidx_3", "8\tidx_2", "9\tidx_3 idx_2"),
    )
    pools = write("pools", "7 9\tidx_1 idx_2\t9 8 7 8", "9\tidx_2\t9")
    found = list(insuranceqa.read_pools("dev", insuranceqa.resolved, vocabulary, reduced, pools))
    assert outline(found) == [
        ("dev-1", "what house", [("8", "b", 0), ("7", "a fire", 1)]),
        ("dev-2", "house", []),
    ]
    found = list(insuranceqa.read_pools("dev", insuranceqa.indexed, vocabulary, full, pools))
    assert outline(found)[0] == (
        "dev-1",
        "what house",
        [("9", "fire house", 1), ("8", "house", 0), ("7", "fire", 1)],
    )
    train = write("train", "idx_1 idx_2\t7 9")
    found = list(insuranceqa.read_pools("train", insuranceqa.resolved, vocabulary, reduced, train))
    assert outline(found) == [("train-1", "what house", [("7", "a fire", 1)])]


def test_insuranceqa_pairs_are_gathered_by_question(write: Write) -> None:
    path = write("p.csv", "question,answer,label\r", 'q,"a, b",1\r', "r,c,0\r", "q,d,0\r")
    assert outline(list(insuranceqa.read_pairs("pairs-test", path))) == [
        ("pairs-test-1", "q", [("pairs-test-1-0", "a, b", 1), ("pairs-test-1-1", "d", 0)]),
        ("pairs-test-2", "r", [("pairs-test-2-0", "c", 0)]),
    ]


def test_fiqa(write: Write) -> None:
    questions = write(
        "q.tsv", "\tqid\tquestion\ttimestamp", "0\t3\tone?\tx", '1\t4\t"a ""b""?"\ty', "2\t5\tno?\tz"
    )
    qrels = write("r.tsv", "\tqid\tdocid", "0\t3\t11", "1\t4\t12", "2\t4\t99", "3\t5\t11")
    splits = write("s.json", '{"train": [5], "test": [3, 4]}')
    answers = write("a.tsv", "11\tA", "12\tB")
    assert outline(list(fiqa.read_pools(questions, qrels, splits, answers))) == [
        ("3", "one?", [("11", "A", 1), ("12", "B", 0)]),
        ("4", 'a "b"?', [("11", "A", 0), ("12", "B", 1)]),
    ]


def test_yahoocqa_gathers_by_question_text(write: Write) -> None:
    pools = list(yahoocqa.read_pools("test", write("y.txt", "q#a#0", "r#b#1", "q#c#1")))
    assert [(p.id, p.question, p.answers, p.labels) for p in pools] == [
        ("test-1", "q", ["a", "c"], [0, 1]),
        ("test-2", "r", ["b"], [1]),
    ]


def test_covidfaq_has_each_answer_under_its_questions_in_every_pool(write: Write) -> None:
    answers = write("a.tsv", "1\tIt rains.", '2\tSay "no".')
    questions = write("f.tsv", "1\tHow is it?", "2\tWhat now?", "1\tIs it wet?")
    queries = write("q.tsv", "7\t1\twet?", "8\t1,2\tand?")
    first, second = "How is it?\nIs it wet?\nIt rains.", 'What now?\nSay "no".'
    assert outline(list(covidfaq.read_pools(answers, queries, questions))) == [
        ("7", "wet?", [("1", first, 1), ("2", second, 0)]),
        ("8", "and?", [("1", first, 1), ("2", second, 1)]),
    ]
    assert next(covidfaq.read_pools(answers, queries)).answers == ["It rains.", 'Say "no".']


def test_covidfaq_with_a_right_answer_that_is_not_there_is_one_clear_line(write: Write) -> None:
    with pytest.raises(DataError, match=r"q\.tsv:1: there is no answer '3'"):
        next(covidfaq.read_pools(write("a.tsv", "1\tyes"), write("q.tsv", "7\t1,3\twet?")))
