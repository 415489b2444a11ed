"""Each format as other programs write it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow
from pyarrow import parquet

from demur.data import formats
from demur.types import Candidate, Pool


def read(tmp_path: Path, content: str, name: str = "a.jsonl", format: str | None = None) -> list[Pool]:
    path = tmp_path / name
    path.write_bytes(content.encode())
    return list(formats.read_pools(path, format))


def shape(pools: list[Pool]) -> list[tuple[str, str, list[tuple[str, str, int | None]]]]:
    return [(one.id, one.question, [(c.id, c.text, c.label) for c in one.candidates]) for one in pools]


def test_our_jsonl_keeps_what_it_does_not_know(tmp_path: Path) -> None:
    line = {
        "id": 7,
        "question": "q?",
        "topic": ["a"],
        "candidates": [{"id": 1, "text": "", "label": 2.0, "score": 0.1}],
    }
    pool = read(tmp_path, f"\n{json.dumps(line)}\n   \n")[0]
    assert shape([pool]) == [("7", "q?", [("1", "", 2)])]
    assert pool.extra == {"topic": ["a"]}
    assert pool.candidates[0].extra == {"score": 0.1}


def test_our_jsonl_needs_no_ids(tmp_path: Path) -> None:
    bare = {"question": "q?", "candidates": [{"text": "a", "label": 1}, {"text": "b", "by": "me"}]}
    some = {
        "id": "x",
        "question": "p?",
        "topic": 1,
        "candidates": [{"text": "a"}, {"id": "own", "text": "b"}],
    }
    pools = read(tmp_path, f"{json.dumps(bare)}\n\n{json.dumps(some)}\n{json.dumps(bare | {'topic': 2})}")
    assert shape(pools) == [
        ("1", "q?", [("1-0", "a", 1), ("1-1", "b", None)]),
        ("x", "p?", [("x-0", "a", None), ("own", "b", None)]),
        ("4", "q?", [("4-0", "a", 1), ("4-1", "b", None)]),
    ]
    assert [dict(pool.extra) for pool in pools] == [{}, {"topic": 1}, {"topic": 2}]
    assert dict(pools[0].candidates[1].extra) == {"by": "me"}


def test_labels_may_be_said_in_several_ways(tmp_path: Path) -> None:
    content = "".join(f"q\ta\t{mark}\n" for mark in ("1", "1.0", "", " ", "-2", "+3", " 0 ", "1e1"))
    assert read(tmp_path, content, "a.tsv")[0].labels == [1, 1, None, None, -2, 3, 0, 10]
    marks = ["true", "false", "null", '"1"', "1.0", "2"]
    candidates = ", ".join(f'{{"id": "{n}", "text": "", "label": {mark}}}' for n, mark in enumerate(marks))
    line = f'{{"id": "q", "question": "", "candidates": [{candidates}]}}'
    labels = read(tmp_path, line)[0].labels
    assert labels == [1, 0, None, 1, 1, 2]
    assert {type(label) for label in labels} == {int, type(None)}


def test_tsv_lines_of_one_question_in_a_row_are_a_pool(tmp_path: Path) -> None:
    content = 'a "q"?\tx\t1\r\na "q"?\ty\t0\r\n\r\nb?\tx\t0\r\na "q"?\tz\t1\r\n'
    assert shape(read(tmp_path, "\ufeff" + content, "a.tsv")) == [
        ("1", 'a "q"?', [("1-0", "x", 1), ("1-1", "y", 0)]),
        ("2", "b?", [("2-0", "x", 0)]),
        ("3", 'a "q"?', [("3-0", "z", 1)]),
    ]


def test_tsv_columns_beyond_the_label_are_kept_as_text(tmp_path: Path) -> None:
    pool = read(tmp_path, "q\ta\t1\t4\tx\nq\tb\t0\t1\t\n", "a.tsv")[0]
    assert [dict(one.extra) for one in pool.candidates] == [
        {"column4": "4", "column5": "x"},
        {"column4": "1"},
    ]


def test_tsv_without_labels(tmp_path: Path) -> None:
    assert read(tmp_path, "q\ta\nq\tb\n", "a.tsv")[0].labels == [None, None]


def test_a_header_puts_columns_in_any_order(tmp_path: Path) -> None:
    content = "Label\tSentence\tscore\tQuestionID\t\tQuestion\tSentenceID\n1\tso\t1e-3\tQ1\tx\twhy?\tD1\n"
    pools = read(tmp_path, content, "a.tsv")
    assert shape(pools) == [("Q1", "why?", [("D1", "so", 1)])]
    assert pools[0].candidates[0].extra == {"score": 0.001, "column5": "x"}


def test_ids_tell_pools_with_one_question_apart(tmp_path: Path) -> None:
    assert [
        len(pool) for pool in read(tmp_path, "qid\tquestion\tanswer\n1\tq\ta\n1\tq\tb\n2\tq\tc\n", "a.tsv")
    ] == [2, 1]


def test_asnq_has_one_positive_label(tmp_path: Path) -> None:
    pools = read(tmp_path, "q\ta\t1\nq\tb\t2\nq\tc\t3\nq\td\t4\n", "a.tsv", "asnq")
    assert pools[0].labels == [0, 0, 0, 1]
    assert [one.extra["asnq"] for one in pools[0].candidates] == [1, 2, 3, 4]


def test_csv_quotes_what_needs_it(tmp_path: Path) -> None:
    content = 'question,answer,label\r\n"a, ""b""?","two\r\nlines",1\r\n\r\n"a, ""b""?",,\r\n'
    assert shape(read(tmp_path, "\ufeff" + content, "a.csv")) == [
        ("1", 'a, "b"?', [("1-0", "two\r\nlines", 1), ("1-1", "", None)])
    ]


def test_tevatron_puts_positives_first_and_titles_before_texts(tmp_path: Path) -> None:
    line = {
        "query_id": 3,
        "query": "q",
        "positive_passages": [{"docid": "p", "title": "T", "text": "x"}],
        "negative_passages": [{"docid": "n", "title": "", "text": "y"}, {"docid": "m", "text": "z"}],
    }
    pools = read(tmp_path, json.dumps(line))
    assert shape(pools) == [("3", "q", [("p", "T x", 1), ("n", "y", 0), ("m", "z", 0)])]
    assert [dict(one.extra) for one in pools[0].candidates] == [{"title": "T"}, {}, {}]


def test_what_tevatron_reads_is_as_it_wants_it(tmp_path: Path) -> None:
    pool = Pool("q", "why?", (Candidate("n", "y", 0), Candidate("p", "T x", 2, {"title": "T"})))
    formats.write_pools(tmp_path / "a.jsonl", [pool], "tevatron")
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {
        "query_id": "q",
        "query": "why?",
        "positive_passages": [{"docid": "p", "title": "T", "text": "x"}],
        "negative_passages": [{"docid": "n", "title": "", "text": "y"}],
        "demur_labels": [0, 2],
    }


def test_bge(tmp_path: Path) -> None:
    pools = read(
        tmp_path,
        '{"query": "q", "pos": ["a"], "neg": ["b", "a"], "pos_scores": [0.5]}\n{"query": "r", "pos": ["c"]}',
    )
    assert shape(pools) == [
        ("1", "q", [("1-0", "a", 1), ("1-1", "b", 0), ("1-2", "a", 0)]),
        ("2", "r", [("2-0", "c", 1)]),
    ]
    assert pools[0].extra == {"pos_scores": [0.5]}


def test_sentence_transformers_tuples(tmp_path: Path) -> None:
    first = '{"anchor": "q", "positive": "a"}'
    lines = first + '\n{"anchor": "q", "positive": "b", "negative_1": "c", "negative_2": "d"}'
    assert shape(read(tmp_path, lines)) == [
        ("1", "q", [("1-0", "a", 1)]),
        ("2", "q", [("2-0", "b", 1), ("2-1", "c", 0), ("2-2", "d", 0)]),
    ]


def test_sentence_transformers_labelled_pairs(tmp_path: Path) -> None:
    lines = (
        '{"sentence1": "q", "sentence2": "a", "score": 1.0}\n'
        '{"sentence1": "q", "sentence2": "b", "score": 0}\n'
        '{"sentence1": "r", "sentence2": "c", "score": null}\n'
    )
    assert shape(read(tmp_path, lines)) == [
        ("1", "q", [("1-0", "a", 1), ("1-1", "b", 0)]),
        ("2", "r", [("2-0", "c", None)]),
    ]
    assert read(tmp_path, '{"question": "q", "answer": "a"}')[0].labels == [None], "nobody has judged it"


def test_sentence_transformers_keep_ids_and_other_keys(tmp_path: Path) -> None:
    rows = [
        {"question_id": "A1", "question": "q", "answer_id": 7, "answer": "a", "src": "web"},
        {"question_id": "A1", "question": "q", "answer_id": None, "answer": "b"},
        {"question_id": "A2", "question": "q", "answer": "c"},
    ]
    pools = read(tmp_path, "\n".join(map(json.dumps, rows)))
    assert shape(pools) == [
        ("A1", "q", [("7", "a", None), ("1-1", "b", None)]),
        ("A2", "q", [("2-0", "c", None)]),
    ]
    assert pools[0].candidates[0].extra == {"src": "web"} and not pools[0].extra
    for line in (
        '{"id": 5, "query": "q", "docs": ["a"], "labels": [1], "src": "web"}',
        '{"query-id": "5", "anchor": "q", "positive": "a", "src": "web"}',
    ):
        (pool,) = read(tmp_path, line)
        assert shape([pool]) == [("5", "q", [("1-0", "a", 1)])] and pool.extra == {"src": "web"}


def test_sentence_transformers_labelled_lists(tmp_path: Path) -> None:
    assert shape(read(tmp_path, '{"query": "q", "docs": ["a", "b"], "labels": [0, 1.0]}')) == [
        ("1", "q", [("1-0", "a", 0), ("1-1", "b", 1)])
    ]


def test_beir_folders_as_they_are_published(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    corpus = [
        {"_id": "d1", "title": "T", "text": "x", "metadata": {}},
        {"_id": "d2", "title": "", "text": "y"},
        {"_id": "d3", "title": "T", "text": ""},
    ]
    queries = [
        {"_id": "q2", "text": "two?"},
        {"_id": "q1", "text": "one?", "metadata": {"n": 1}},
        {"_id": "q0", "text": ""},
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    header = "query-id\tcorpus-id\tscore\n"
    (tmp_path / "qrels/train.tsv").write_text(header + "q2\td3\t1\n")
    (tmp_path / "qrels/dev.tsv").write_text(header + "q1\td2\t0\nq1\td1\t2\nq2\td3\t1\n")
    pools = list(formats.read_pools(tmp_path))
    assert shape(pools) == [
        ("q2", "two?", [("d3", "T", 1)]),
        ("q1", "one?", [("d2", "y", 0), ("d1", "T x", 2)]),
    ]
    assert pools[1].extra == {"metadata": {"n": 1}}
    assert pools[1].candidates[1].extra == {"title": "T", "metadata": {}}
    assert len(list(formats.read_pools(tmp_path / "qrels/train.tsv"))) == 1


def test_squad_gives_a_pool_per_question_and_the_file_back(tmp_path: Path) -> None:
    answer = {"text": "1973", "answer_start": 3}
    qas = [
        {"id": "a", "question": "When?", "answers": [answer], "is_impossible": False},
        {"id": "b", "question": "Why?", "answers": [], "plausible_answers": [answer], "is_impossible": True},
    ]
    paragraphs = [
        {"context": "In 1973.", "qas": qas},
        {"context": "In 1973.", "qas": [{**qas[0], "id": "c"}]},
    ]
    whole = {
        "version": "v2.0",
        "data": [
            {"title": "Oil crisis", "paragraphs": paragraphs},
            {"title": "Other", "paragraphs": paragraphs[1:]},
        ],
    }
    pools = read(tmp_path, json.dumps(whole, indent=1), "a.json")
    assert shape(pools)[:2] == [
        ("a", "When?", [("Oil_crisis-0", "In 1973.", 1)]),
        ("b", "Why?", [("Oil_crisis-0", "In 1973.", 0)]),
    ]
    assert pools[0].extra == {
        "title": "Oil crisis",
        "paragraph": 0,
        "answers": [answer],
        "is_impossible": False,
    }
    assert formats.write_pools(tmp_path / "b.json.gz", pools) == 4
    formats.write_pools(tmp_path / "b.json", pools)
    assert json.loads((tmp_path / "b.json").read_text()) == whole
    formats.write_pools(tmp_path / "c.json", pools[2:3])
    assert json.loads((tmp_path / "c.json").read_text())["data"][0]["paragraphs"][0]["paragraph"] == 1
    assert list(formats.read_pools(tmp_path / "c.json")) == pools[2:3]


def test_squad_1_1_says_nothing_of_the_impossible(tmp_path: Path) -> None:
    question = {"id": "a", "question": "When?", "answers": [{"text": "x", "answer_start": 0}]}
    unknown = {"id": "b", "question": "Where?"}
    whole = {
        "data": [{"title": "T", "paragraphs": [{"context": "x", "qas": [question, unknown]}]}],
        "version": "1.1",
    }
    pools = read(tmp_path, json.dumps(whole), "a.json")
    assert [pool.labels for pool in pools] == [[1], [None]]
    formats.write_pools(tmp_path / "b.json", pools)
    assert json.loads((tmp_path / "b.json").read_text()) == whole


def test_parquet_of_other_programs(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    nested = {"id": [5], "question": ["q"], "candidates": [[{"id": "a", "text": "x"}]], "source": ["web"]}
    parquet.write_table(pyarrow.table(nested), path)
    assert shape(list(formats.read_pools(path))) == [("5", "q", [("a", "x", None)])]
    flat = {
        "label": [1, None, 0],
        "question": ["q", "q", "r"],
        "answer": ["a", "b", "c"],
        "grade": [3, None, 1],
    }
    parquet.write_table(pyarrow.table(flat), path)
    pools = list(formats.read_pools(path))
    assert shape(pools) == [("1", "q", [("1-0", "a", 1), ("1-1", "b", None)]), ("2", "r", [("2-0", "c", 0)])]
    assert [dict(one.extra) for one in pools[0].candidates] == [{"grade": "3"}, {}]
