"""What demur says of broken files. Read them aloud: each says where, what is wrong, and what to do."""

# ruff: noqa: E501 – a table of messages reads best with a row to a line

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from demur.data import formats
from demur.errors import DataError
from demur.types import Pool

JSONL = '{"id": "q1", "question": "why?", "candidates": [{"id": "a", "text": "so", "label": 1}]}\n'
OBJECT = "write one whole JSON object on each line"
LABEL = "use whole numbers such as 0 and 1, or leave it empty where there is no judgement"
COLUMNS = "correct the line; texts with tabs or line breaks need quotes in .csv, or .jsonl"
SQUAD = 'SQuAD is one object {"data": [...]}; if each line is an object, say it is jsonl'

FAR = "infinite or too large; correct it, or leave it empty"
ODD = "NaN, or a number that is infinite or too large; write a number, or leave it out"
WHOLE = "write the character itself"


def one(candidate: str) -> str:
    return f'{{"id": "q", "question": "why?", "candidates": [{candidate}]}}'


def tevatron(positive: str, more: str = "") -> str:
    return (
        f'{{"query_id": "1", "query": "q", "positive_passages": {positive}, "negative_passages": []{more}}}'
    )


def squad(question: str) -> str:
    return f'{{"data": [{{"title": "T", "paragraphs": [{{"context": "c", "qas": [{question}]}}]}}]}}'


BROKEN: list[tuple[str, str | bytes, str]] = [
    # JSON that is none
    ("a.jsonl", JSONL + '{"id": ', f"a.jsonl:2: broken JSON (Expecting value, column 8); {OBJECT}"),
    ("a.jsonl", '{\n  "id": "q1"\n}\n', "a.jsonl:1: broken JSON (Expecting property name enclosed in double quotes, column 2); " + OBJECT),
    ("a.jsonl", JSONL + "[1, 2]", f"a.jsonl:2: a list where a JSON object was expected; {OBJECT}"),
    ("a.jsonl", JSONL + "null", f"a.jsonl:2: null where a JSON object was expected; {OBJECT}"),
    ("a.jsonl", JSONL + '{"id": ' + "[" * 100_000, f"a.jsonl:2: JSON that cannot be read (*); {OBJECT}"),
    ("a.jsonl", JSONL + '{"n": ' + "1" * 5000 + "}", f"a.jsonl:2: JSON that cannot be read (*); {OBJECT}"),
    # JSON that is no pool
    ("a.jsonl", JSONL + '{"id": "q2", "text": "x"}', "a.jsonl:2: no 'question' (it has 'id', 'text'); add 'question', or say which format this is"),
    ("a.jsonl", '{"id": "q2", "text": "x"}', "a.jsonl:1: no known format has the keys id, text; demur's own are id, question and candidates"),
    ("a.jsonl", JSONL + '{"id": "q2", "question": 3, "candidates": []}', "a.jsonl:2: 'question' is a number, not text; write 'question' in quotes"),
    ("a.jsonl", JSONL + '{"id": null, "question": "x", "candidates": []}', "a.jsonl:2: 'id' is null, not an id; write 'id' in quotes"),
    ("a.jsonl", '{"id": "q", "question": "x", "candidates": {}}', "a.jsonl:1: 'candidates' is an object, not a list; write 'candidates' as [...]"),
    ("a.jsonl", one('"so"'), "a.jsonl:1: item 1 of 'candidates' is text, not an object; leave it out or correct it"),
    ("a.jsonl", one('{"id": "a", "text": "so"}, {"id": "b"}'), "a.jsonl:1: candidate 2: no 'text' (it has 'id'); add 'text'"),
    ("a.jsonl", one('{"id": "a", "text": null}'), "a.jsonl:1: candidate 1: 'text' is null, not text; write 'text' in quotes"),
    ("a.jsonl", one('{"id": "a", "text": "so"}, {"id": "a", "text": "no"}'), "a.jsonl:1: candidate id 'a' occurs twice in pool 'q'; give each candidate of a pool an id of its own"),
    # labels
    ("a.jsonl", one('{"id": "a", "text": "so", "label": NaN}'), f"a.jsonl:1: candidate 1: label nan is not a whole number; {LABEL}"),
    ("a.jsonl", one('{"id": "a", "text": "so", "label": 0.5}'), f"a.jsonl:1: candidate 1: label 0.5 is not a whole number; {LABEL}"),
    ("a.jsonl", one('{"id": "a", "text": "so", "label": "yes"}'), f"a.jsonl:1: candidate 1: label 'yes' is not a whole number; {LABEL}"),
    ("a.jsonl", one('{"id": "a", "text": "so", "label": [1]}'), f"a.jsonl:1: candidate 1: label [1] is not a whole number; {LABEL}"),
    ("a.tsv", "q\ta\t1\nq\tb\tnan\n", f"a.tsv:2: label 'nan' is not a whole number; {LABEL}"),
    ("a.tsv", "q\ta\t1\nq\tb\t0.5\n", f"a.tsv:2: label 0.5 is not a whole number; {LABEL}"),
    ("a.tsv", "q\ta\t1\nq\tb\t1_0\n", f"a.tsv:2: label '1_0' is not a whole number; {LABEL}"),
    ("a.tsv", "q\ta\tinf\n", f"a.tsv:1: label inf is not a whole number; {LABEL}"),
    ("a.tsv", "q\ta\t" + "x" * 99, f"a.tsv:1: label '{'x' * 56}... is not a whole number; {LABEL}"),
    ("a.csv", "question,answer,label\r\nq,a,good\r\n", f"a.csv:2: label 'good' is not a whole number; {LABEL}"),
    # columns
    ("a.tsv", "only text\n", "a.tsv:1: 1 column where question, answer and label were expected; separate the columns by tabs"),
    ("a.tsv", "q\ta\t1\nq\tb\n", f"a.tsv:2: 2 columns where the first line has 3; {COLUMNS}"),
    ("a.tsv", "q\ta\t1\n\nq\tb\tc\t0\n", f"a.tsv:3: 4 columns where the first line has 3; {COLUMNS}"),
    ("a.csv", "question,answer\n\nq\n", f"a.csv:3: 1 column where the first line has 2; {COLUMNS}"),
    ("a.csv", "q,a,1\n", "a.csv:1: no columns called question and answer in the header ('q, a, 1'); begin with a header such as question,answer,label"),
    ("a.csv", "question,answer,id,Question-ID\n", "a.csv:1: two columns for the question_id in the header; rename one of them"),
    ("a.csv", "question,answer,x,x\n", "a.csv:1: two columns for the x in the header; rename one of them"),
    ("a.csv", 'question,answer\nq,a\nq,"two\nlines"\nq,"open\nfor ever\n', "a.csv:5: broken CSV in the row that starts here (unexpected end of data); put quotes around texts with commas, and write \" inside them as \"\""),
    ("a.csv", 'question,answer\nq,"a" b\n', "a.csv:2: broken CSV in the row that starts here (',' expected after '\"'); put quotes around texts with commas, and write \" inside them as \"\""),
    ("a.csv", "question,answer\rq,a\r", "a.csv:1: a line ends as on old Macs; save the file with line ends of Unix or Windows"),
    ("a.csv", "question,answer,answer_id\nq,a,1\nq,b,1\n", "a.csv:3: answer id '1' occurs twice for one question; give each answer of a question an id of its own"),
    ("a.csv", "question,answer,id\nq,a,1\np,b,1\n", "a.csv:3: question id '1' has another question than on the line before; give each question an id of its own"),
    ("a.tsv", "question\tanswer\tscore\nq\ta\tNaN\n", "a.tsv:2: score 'NaN' is not a number; correct it, or leave it empty"),
    ("a.csv", "question,answer,score\nq,a,1e999\n", f"a.csv:2: score '1e999' is {FAR}"),
    ("a.tsv", "question\tanswer\tscore\nq\ta\t0.5\nq\tb\t-inf\n", f"a.tsv:3: score '-inf' is {FAR}"),
    ("asnq.tsv", "q\ta\n", "asnq.tsv:1: 2 columns where ASNQ has question, answer and label; separate three columns by tabs"),
    ("asnq.tsv", "q\ta\t4\nq\tb\t0\n", "asnq.tsv:2: label '0' is not one of ASNQ's 1, 2, 3 and 4; read it as tsv if its labels are 0 and 1"),
    # bytes
    ("a.jsonl", JSONL.encode() + b'{"id": "\xe9"}', "a.jsonl:2: byte 0xe9 is not UTF-8; save the file as UTF-8"),
    ("a.tsv", b"q\ta\t1\nq\t\xff\t0\n", "a.tsv:2: byte 0xff is not UTF-8; save the file as UTF-8"),
    ("a.csv", b"question,answer\nq,\xff\n", "a.csv:2: byte 0xff is not UTF-8; save the file as UTF-8"),
    ("a.json", b"\xff\xfe{", "a.json: byte 0 is not UTF-8; save the file as UTF-8"),
    ("a.jsonl.gz", gzip.compress(JSONL.encode() * 99, mtime=0)[:-9], "a.jsonl.gz: broken gzip file (Compressed file ended before the end-of-stream marker was reached); copy or download it again"),
    ("a.csv.gz", gzip.compress(b"question,answer\n", mtime=0)[:-9], "a.csv.gz: broken gzip file (Compressed file ended before the end-of-stream marker was reached); copy or download it again"),
    ("a.parquet.gz", gzip.compress(b"question,answer\n", mtime=0)[:-9], "a.parquet.gz: broken gzip file (Compressed file ended before the end-of-stream marker was reached); copy or download it again"),
    ("a.parquet", b"question,answer\n" * 9, "a.parquet: broken parquet file (*); copy or download it again, or say which format it is"),
    ("a.parquet", b"", "a.parquet: is empty, and so no parquet file; copy or download it again"),
    ("a.parquet.gz", gzip.compress(b"", mtime=0), "a.parquet.gz: is empty, and so no parquet file; copy or download it again"),
    # what JSON can spell, and no text and no number can be
    ("a.jsonl", JSONL + one('{"id": "a", "text": "so", "x": NaN}'), f"a.jsonl:2: candidate 1: 'x' holds {ODD}"),
    ("a.jsonl", one('{"id": "a", "text": "so", "x": [{"y": -Infinity}]}'), f"a.jsonl:1: candidate 1: 'x' holds {ODD}"),
    ("a.jsonl", '{"question": "q", "candidates": [], "x": {"y": 1e400}}', f"a.jsonl:1: 'x' holds {ODD}"),
    ("a.jsonl", '{"query": "q", "pos": ["a"], "pos_scores": [NaN]}', f"a.jsonl:1: 'pos_scores' holds {ODD}"),
    ("a.jsonl", one(r'{"id": "a", "text": "so \ud83d\ude00 \uD83D"}'), f"a.jsonl:1: half a character, U+D83D, in 'text' of item 1 of 'candidates'; {WHOLE}"),
    ("a.jsonl", r'{"question": "q", "candidates": [], "x": {"\udc00": 1}}', f"a.jsonl:1: half a character, U+DC00, in a key of 'x'; {WHOLE}"),
    ("a.json", r'{"data": ["\ud800"]}', f"a.json: half a character, U+D800, in item 1 of 'data'; {WHOLE}"),
    # SQuAD
    ("a.json", '{"data": [\n  {"title": }]}', f"a.json:2: broken JSON (Expecting value, column 13); {SQUAD}"),
    ("a.json", JSONL + JSONL, f"a.json:2: broken JSON (Extra data, column 1); {SQUAD}"),
    ("a.json", JSONL, f"a.json: an object without 'data'; {SQUAD}"),
    ("a.json", "[]", f"a.json: a list without 'data'; {SQUAD}"),
    ("a.json", "[" * 100_000, f"a.json: JSON that cannot be read (*); {SQUAD}"),
    ("a.json", '{"data": [{"title": "T"}]}', "a.json: article 1: no 'paragraphs' (it has 'title'); add 'paragraphs'"),
    ("a.json", squad('{"id": "1"}'), "a.json: article 1, paragraph 1, question 1: no 'question' (it has 'id'); add 'question'"),
    ("a.json", squad('{"id": "1", "question": "q", "answers": [{}]}'), "a.json: article 1, paragraph 1, question 1: no 'text' (it has nothing); add 'text'"),
    ("a.json", '{"data": [{"paragraphs": [{"context": "c", "paragraph": "one", "qas": []}]}]}', "a.json: article 1, paragraph 1: 'paragraph' is text, not a number; remove it"),
    # training files
    ("a.jsonl", tevatron('[{"docid": "1"}]'), "a.jsonl:1: positive passage: no 'text' (it has 'docid'); add 'text'"),
    ("a.jsonl", tevatron('[{"docid": "1", "text": "a", "title": 5}]'), "a.jsonl:1: positive passage: 'title' is a number, not text; write 'title' in quotes"),
    ("a.jsonl", tevatron('[{"docid": "1", "text": "a"}, {"docid": "1", "text": "a"}]'), "a.jsonl:1: candidate id '1' occurs twice in pool '1'; give each candidate of a pool an id of its own"),
    ("a.jsonl", tevatron("[]", ', "demur_labels": [1]'), "a.jsonl:1: 'demur_labels' does not fit the passages; remove that key"),
    ("a.jsonl", '{"query": "q", "pos": "a"}', "a.jsonl:1: 'pos' is text, not a list; write 'pos' as [...]"),
    ("a.jsonl", '{"query": "q", "pos": [1]}', "a.jsonl:1: item 1 of 'pos' is a number, not text; leave it out or correct it"),
    ("a.jsonl", '{"query": "q", "docs": ["a"], "labels": [1, 0]}', "a.jsonl:1: 'labels' is not a list as long as 'docs'; give one label per document"),
    ("a.jsonl", '{"sentence1": "q", "sentence2": "a", "score": 0.76}', f"a.jsonl:1: label 0.76 is not a whole number; {LABEL}"),
    ("a.jsonl", '{"id": 1, "qid": 2, "query": "q", "answer": "a"}', "a.jsonl:1: two keys for the question_id, 'id' and 'qid'; rename one of them"),
    ("a.jsonl", '{"anchor": "q", "positive": "a", "negative": []}', "a.jsonl:1: 'negative' is a list, not text; write 'negative' in quotes"),
]  # fmt: skip


def matches(message: str, expected: str) -> bool:
    start, star, end = expected.partition("(*)")
    return message.startswith(start) and message.endswith(end) if star else message == expected


@pytest.mark.parametrize(("name", "content", "expected"), BROKEN)
def test_a_broken_file_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str | bytes, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DataError) as caught:
        list(formats.read_pools(name, "asnq" if name.startswith("asnq") else None))
    assert matches(str(caught.value), expected), str(caught.value)


RUNS = [
    ("q Q0 d 1 0.5\n", "a.run:1: 5 columns where a run has 6; write qid Q0 docid rank score tag"),
    ("q Q0 d 1 0.5 me\n\nq Q0 e 2 NaN me\n", "a.run:3: score 'NaN' is not a number; every document needs a score to be ranked by"),
    ("q Q0 d 1 high me\n", "a.run:1: score 'high' is not a number; every document needs a score to be ranked by"),
    ("q Q0 d 1 2 me\nq Q0 d 2 1 me\n", "a.run:2: document 'd' occurs twice for question 'q'; keep one of the two lines"),
]  # fmt: skip

QRELS = [
    ("q 0 d\n", "a.qrel:1: 3 columns where judgements have 4; write qid 0 docid relevance"),
    ("q 0 d 1\nq 0 e yes\n", f"a.qrel:2: label 'yes' is not a whole number; {LABEL}"),
    ("q 0 d 1\nq U0 d 1\n", "a.qrel:2: document 'd' occurs twice for question 'q'; keep one of the two lines"),
    ("query-id\tcorpus-id\tscore\nq\td\n", "a.qrel:2: 2 columns where judgements have 3; write query-id corpus-id score, separated by tabs"),
    ("query-id\tcorpus-id\tscore\nq\td\t\n", "a.qrel:2: no relevance; write a whole number such as 0 or 1"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "expected"), RUNS + QRELS)
def test_a_broken_run_or_judgement_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path(expected.partition(":")[0])
    path.write_text(content)
    with pytest.raises(DataError) as caught:
        (formats.read_run if path.suffix == ".run" else formats.read_qrels)(path.name)
    assert str(caught.value) == expected


CORPUS, QUERIES = '{"_id": "d", "title": "", "text": "t"}\n', '{"_id": "q", "text": "why?"}\n'
HEADER = "query-id\tcorpus-id\tscore\n"
FOLDERS = [
    ({}, "f: no qrels/test.tsv, dev.tsv or train.tsv in this folder; a BEIR folder has corpus.jsonl, queries.jsonl and qrels/test.tsv"),
    ({"qrels/test.tsv": HEADER}, "f: no corpus.jsonl in this folder; a BEIR folder has corpus.jsonl, queries.jsonl and qrels/test.tsv"),
    ({"qrels/test.tsv": HEADER, "corpus.jsonl": CORPUS}, "f: no queries.jsonl in this folder; a BEIR folder has corpus.jsonl, queries.jsonl and qrels/test.tsv"),
    ({"qrels/test.tsv": HEADER + "q\td\t1\n", "corpus.jsonl": CORPUS * 2, "queries.jsonl": QUERIES}, "f/corpus.jsonl:2: document 'd' occurs twice in the corpus; keep one of the two"),
    ({"qrels/test.tsv": HEADER + "q\te\t1\n", "corpus.jsonl": CORPUS, "queries.jsonl": QUERIES}, "f/qrels/test.tsv: document 'e', judged for query 'q', is not in the corpus; add it to the corpus, or drop the judgement"),
    ({"qrels/test.tsv": HEADER + "p\td\t1\n", "corpus.jsonl": CORPUS, "queries.jsonl": QUERIES}, "f/qrels/test.tsv: query 'p' is judged, but not in the queries (or twice in them); add it to queries.jsonl, or drop its judgements"),
    ({"qrels/test.tsv": HEADER + "q\td\t0.5\n", "corpus.jsonl": CORPUS, "queries.jsonl": QUERIES}, f"f/qrels/test.tsv:2: label 0.5 is not a whole number; {LABEL}"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), FOLDERS)
def test_a_broken_folder_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f/qrels").mkdir(parents=True)
    for name, content in files.items():
        Path("f", name).write_text(content)
    with pytest.raises(DataError) as caught:
        list(formats.read_pools("f"))
    assert str(caught.value) == expected


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="f: no such folder; a BEIR folder has corpus"):
        list(formats.read_pools(tmp_path / "f", "beir"))
    for name in ("a.jsonl", "a.tsv", "a.csv", "a.json", "a.parquet"):
        with pytest.raises(DataError, match="no such file; check the spelling of the path"):
            list(formats.read_pools(tmp_path / name))


CANDIDATE = {"id": "a", "text": "so"}
TABLES: list[tuple[dict[str, list[object]], str]] = [
    ({"id": ["q"]}, "a.parquet: no columns called question and answer in the header ('id'); begin with a header such as question,answer,label"),
    ({"question": ["q", "q"], "answer": ["a", "b"], "label": [1.0, 0.5]}, f"a.parquet: row 2: label 0.5 is not a whole number; {LABEL}"),
    ({"question": ["q", None], "answer": ["a", "b"]}, "a.parquet: row 2: 'question' is null, not text; write a text, or leave the row out"),
    ({"Query": ["q", "q"], "passage": ["a", None], "label": [1, 0]}, "a.parquet: row 2: 'passage' is null, not text; write a text, or leave the row out"),
    ({"id": ["q"], "question": [None], "candidates": [[CANDIDATE]]}, "a.parquet: row 1: 'question' is null, not text; write 'question' in quotes"),
    ({"id": ["q"], "question": ["q"], "candidates": [[{"id": "a"}]]}, "a.parquet: row 1, candidate 1: no 'text' (it has 'id'); add 'text'"),
    ({"id": ["q"], "question": ["q"], "candidates": [[CANDIDATE, CANDIDATE]]}, "a.parquet: row 1: candidate id 'a' occurs twice in pool 'q'; give each candidate of a pool an id of its own"),
    ({"id": ["q"], "question": ["q"], "candidates": [[CANDIDATE]], "extra": ["[1]"]}, "a.parquet: row 1: 'extra' is not a JSON object; write a JSON object, or null"),
    ({"id": ["q"], "question": ["q"], "candidates": [[CANDIDATE]], "extra": ["{"]}, "a.parquet: row 1: 'extra' is broken JSON (*); write a JSON object, or null"),
    ({"id": ["q"], "question": ["q"], "candidates": [[CANDIDATE]], "extra": ['{"x": NaN}']}, f"a.parquet: row 1: 'x' holds {ODD}"),
    ({"id": ["q"], "question": ["q"], "candidates": [[CANDIDATE]], "extra": [r'{"x": "\ud800"}']}, f"a.parquet: row 1: half a character, U+D800, in 'x'; {WHOLE}"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "expected"), TABLES)
def test_a_broken_parquet_row_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: dict[str, list[object]], expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    parquet.write_table(pyarrow.table(table), "a.parquet")
    with pytest.raises(DataError) as caught:
        list(formats.read_pools("a.parquet"))
    assert matches(str(caught.value), expected), str(caught.value)


def test_parquet_broken_in_the_middle_is_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    formats.write_pools(path, [Pool.of("why?", ["so", "no"])])
    raw = bytearray(path.read_bytes())
    raw[4:40] = bytes(36)
    path.write_bytes(raw)
    with pytest.raises(DataError, match=r"a\.parquet: broken parquet file \(.*\); copy or download it again"):
        list(formats.read_pools(path))
