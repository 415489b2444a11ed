from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from demur import registry
from demur.data.loaders import antique, fiqa, insuranceqa, selqa, semeval2016, squad, trecqa, wikiqa, yahoocqa
from demur.errors import DataError, DemurError
from demur.types import Pool

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, *lines: str) -> Path:
        path = tmp_path / name
        path.write_bytes("".join(f"{line}\n" for line in lines).encode())
        return path

    return write


def outline(pools: list[Pool]) -> list[tuple[str, str, list[tuple[str, str, int | None]]]]:
    return [(p.id, p.question, [(c.id, c.text, c.label) for c in p.candidates]) for p in pools]


def test_wikiqa(write: Write) -> None:
    rows = (
        ("head\t" * 7)[:-1],
        'Q1\tq?\tD1\tTi"tle\tD1-0\ta "b\t1',
        "Q1\tq?\tD1\tT\tD1-1\tc\t0",
        "Q2\tq?\tD2\tU\tD2-0\tc\t0",
    )
    pools = list(wikiqa.read(write("w.tsv", *(f"{row}\r" for row in rows))))
    assert outline(pools) == [
        ("Q1", "q?", [("D1-0", 'a "b', 1), ("D1-1", "c", 0)]),
        ("Q2", "q?", [("D2-0", "c", 0)]),
    ]
    assert pools[0].extra == {"document": "D1", "title": 'Ti"tle'}


XML = (
    *("<QApairs id='32.1'>", "<question>", "Who\t?", "WP\t.", "</question>"),
    *(
        "<positive>",
        "Ada\t.",
        "NNP\t.",
        "</positive>",
        "<negative>",
        "<b>\tBob\t.",
        "x\tNNP\t.",
        "</negative>",
        "</QApairs>",
    ),
    *("<QApairs id='32.2'>", "<question>", "Why\t?", "</question>", "</QApairs>"),
)


def test_trecqa_xml(write: Write) -> None:
    pools = list(trecqa.read_xml(write("t.xml", *XML)))
    assert outline(pools) == [
        ("32.1", "Who ?", [("32.1-0", "Ada .", 1), ("32.1-1", "<b> Bob .", 0)]),
        ("32.2", "Why ?", []),
    ]


@pytest.mark.parametrize("cut", [1, 6, 12, 15])
def test_trecqa_xml_cut_off_is_an_error(write: Write, cut: int) -> None:
    with pytest.raises(DataError, match=f"t.xml:{cut}: .*; obtain the file again"):
        list(trecqa.read_xml(write("t.xml", *XML[:cut])))


def test_trecqa_train_all_and_its_short_reading(write: Write) -> None:
    long = "word " * 60
    pools = list(
        trecqa.read_tsv(
            write("t.tsv", "qid\tq\ta\tl", f"7\tq?\t{long}.\t1", f"7\tq?\t{long}\t0", "9\tr?\tx\t0")
        )
    )
    assert [(p.id, p.labels) for p in pools] == [("7", [1, 0]), ("9", [0])]
    assert [len(text.split()) for text in pools[0].answers] == [61, 60]
    short = list(trecqa.short(pools))
    assert [p.answers for p in short] == [["", long], ["x"]]
    assert [(p.id, p.labels) for p in short] == [(p.id, p.labels) for p in pools]


SELQA = {
    "question": "q?",
    "article": "A",
    "section": "S",
    "topic": "ART",
    "q_types": ["who"],
    "is_paraphrase": False,
}


def test_selqa(write: Write) -> None:
    entries = [
        {**SELQA, "candidates": ["a", " ", "b"], "answers": [2]},
        {**SELQA, "candidates": ["c"], "answers": []},
    ]
    cased = list(selqa.read_json("dev", write("s.json", json.dumps(entries))))
    assert outline(cased) == [
        ("dev-1", "q?", [("dev-1-0", "a", 0), ("dev-1-1", "b", 1)]),
        ("dev-2", "q?", [("dev-2-0", "c", 0)]),
    ]
    assert cased[0].extra["section"] == "S"
    tokens = list(selqa.read_tsv("dev", write("s.tsv", "q ?\ta\t0", "q ?\tb\t1", "r ?\tc\t0", "q ?\td\t0")))
    assert [(p.id, p.question, p.labels) for p in tokens] == [
        ("dev-1", "q ?", [0, 1]),
        ("dev-2", "r ?", [0]),
        ("dev-3", "q ?", [0]),
    ]


@pytest.mark.parametrize(
    ("text", "words"), [("{", "JSONDecodeError"), ('[{"question": "q"}]', "'answers'"), ("[3]", "TypeError")]
)
def test_json_of_another_shape_is_one_clear_line(write: Write, text: str, words: str) -> None:
    with pytest.raises(DataError, match=f"s.json.*expected shape.*{words}.*obtain the file again"):
        list(selqa.read_json("dev", write("s.json", text)))


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
    assert outline(list(fiqa.read(questions, qrels, splits, answers))) == [
        ("3", "one?", [("11", "A", 1), ("12", "B", 0)]),
        ("4", 'a "b"?', [("11", "A", 0), ("12", "B", 1)]),
    ]


def test_yahoocqa_gathers_by_question_text(write: Write) -> None:
    pools = list(yahoocqa.read("test", write("y.txt", "q#a#0", "r#b#1", "q#c#1")))
    assert [(p.id, p.question, p.answers, p.labels) for p in pools] == [
        ("test-1", "q", ["a", "c"], [0, 1]),
        ("test-2", "r", ["b"], [1]),
    ]


def test_asnq(write: Write) -> None:
    read = registry.find("dataset", "asnq").splits["dev"].read
    rows = [f"{question}\ts{label}\t{label}" for question, label in (("q", 1), ("q", 4), ("q", 3), ("r", 2))]
    pools = list(read(write("dev.tsv", *rows)))
    assert [(p.question, p.labels) for p in pools] == [("q", [0, 1, 0]), ("r", [0])]
    assert pools[0].candidates[2].extra == {"asnq": 3}


def squad_file(write: Write, **questions: dict[str, object]) -> Path:
    qas = [
        {"id": id, "question": id, "answers": [], "is_impossible": True} | more
        for id, more in questions.items()
    ]
    return write(
        "s.json", json.dumps({"data": [{"title": "T", "paragraphs": [{"context": "It is so.", "qas": qas}]}]})
    )


def test_squad_takes_the_marks_of_rebuilding_off(write: Write) -> None:
    path = squad_file(
        write,
        a={"question": '"is ""it"" so?"', "align_margin": 3.0},
        b={"question": "cross - border - less - 3?", "align_margin": -1.0},
        c={"question": '"all quoted"', "align_margin": 1.0},
        d={"question": 'a "" - b', "is_impossible": False, "in_v2": True},
        e={"question": "e", "is_impossible": False, "in_v2": False},
    )
    pools = list(squad.read_rebuilt(path))
    assert [p.question for p in pools] == [
        'is "it" so?',
        "cross-border-less-3?",
        '"all quoted"',
        'a "" - b',
        "e",
    ]
    assert [p.labels for p in pools] == [[0], [0], [0], [1], [1]]
    assert [p.id for p in squad.strict(pools)] == ["a", "c", "d"]


def test_some_questions_of_squad_are_held_out_and_the_rest_is_learnt_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(squad, "HELD", 7)
    every = [Pool.of("?", ["a"], [1], id=f"{n}") for n in range(20)]
    held, rest = list(squad.held(every)), list(squad.rest(every))
    assert len(held) == 7 and sorted(int(p.id) for p in held + rest) == list(range(20))
    assert [p.id for p in held] == sorted((p.id for p in held), key=int), "in their order"
    assert {p.id for p in squad.held(every[::-1])} == {p.id for p in held}


@pytest.mark.parametrize(
    ("read", "rows", "words"),
    [
        (wikiqa.read, ["h\t" * 6, "a\tb"], "x:2: 2 columns where 7 were expected"),
        (wikiqa.read, ["h\t" * 6, "a\t" * 6 + "yes"], "x:2: label 'yes' is neither 0 nor 1"),
        (trecqa.read_tsv, ["h\t" * 3, "1\tq\ta\tNaN"], "label 'NaN'"),
    ],
)
def test_broken_rows_name_file_and_line(
    write: Write, read: Callable[[Path], list[Pool]], rows: list[str], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        list(read(write("x", *rows)))


@pytest.mark.parametrize("name", registry.OURS["dataset"])
def test_no_reader_lets_a_strange_file_through_as_a_traceback(write: Write, name: str) -> None:
    strange = [
        "",
        "\x00",
        "{}",
        "[]",
        '[{"data": 1}]',
        "a\tb\tc\td",
        "1#2#3",
        '"',
        "<x/>",
        "<QApairs id='1'>",
        "null",
    ]
    for split in registry.find("dataset", name).splits.values():
        for text in strange:
            try:
                pools = list(split.read(*(write(f"f{n}", text) for n, _ in enumerate(split.files))))
            except DemurError as error:
                assert "\n" not in str(error)
            else:
                assert all(isinstance(pool, Pool) for pool in pools)
