from __future__ import annotations

import gzip
import json
import logging
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.asking import Passage, read_documents
from demur.errors import DataError
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import LONG, Paragraph, cuts


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def texts(path: Path) -> list[str]:
    return [passage.text for passage in read_documents(path)]


def test_text_is_parted_by_empty_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "\ufeffOne\r\ntwo.\r\n\r\n  \r\n  Three:\r\n- a\r\n- b\r\n")
    assert list(read_documents(path)) == [
        Passage(f"{path}:1", "One two.", str(path), 1),
        Passage(f"{path}:5", "Three:\n- a\n- b", str(path), 5),
    ]


def test_a_soft_hyphen_parts_no_word(tmp_path: Path) -> None:
    path = write(tmp_path, "a.md", "# Liefer\u00adzeit\n\nGarten\u00adm\u00f6bel kommen bald.\n")
    assert [(each.heading, each.text) for each in read_documents(path)] == [
        ("Lieferzeit", "Gartenm\u00f6bel kommen bald.")
    ]


def test_a_line_too_long_to_be_wrapped_is_a_paragraph(tmp_path: Path) -> None:
    long = "a word " * 20 + "end."
    path = write(tmp_path, "a.txt", f"{long}\n{long} And.\nShort\nones.\n{long}")
    assert texts(path) == [long, f"{long} And.", "Short ones.", long]


def test_long_paragraphs_are_cut_at_sentences_and_know_their_lines(tmp_path: Path) -> None:
    sentences = [f"This is sentence number {n}, and it says as little as the others do." for n in range(60)]
    path = write(tmp_path, "a.txt", "Before.\n\n" + "\n".join(sentences))
    before, *found = read_documents(path)
    assert before.text == "Before."
    assert " ".join(passage.text for passage in found) == " ".join(sentences)
    assert all(passage.text.endswith(".") and len(passage.text) <= LONG + 100 for passage in found)
    for passage in found:
        assert passage.line is not None
        assert passage.text.startswith(sentences[passage.line - 3])
    assert len({passage.id for passage in found}) == len(found)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["word", "Longer.", "x" * 500, "。", "Dr."]), min_size=1, max_size=400))
def test_parts_of_a_paragraph_hold_all_of_it(words: list[str]) -> None:
    text = " ".join(words)
    parts = list(cuts(text)) if len(text) > LONG else [(0, len(text))]
    assert "".join(text[start:end] for start, end in parts).replace(" ", "") == text.replace(" ", "")
    assert all(end - start <= 2 * LONG for start, end in parts)


@pytest.mark.parametrize("unit", ["x", "词", "word ", "😀 ", "A sentence ends. "])
def test_a_document_of_200_000_characters(tmp_path: Path, unit: str) -> None:
    text = unit * (200_000 // len(unit))
    found = texts(write(tmp_path, "a.txt", text))
    assert "".join(found).replace(" ", "") == text.replace(" ", "")
    assert all(len(passage) <= 2 * LONG for passage in found)


def test_jsonl_entries(tmp_path: Path) -> None:
    entries = [
        {"text": "One."},
        {"id": 7, "question": "How?", "answer": "Two."},
        {"title": "T", "question": "Q", "body": "Three.", "answer": "no"},
        {"passage": "  "},
        {"id": "q", "question": "Q?", "candidates": [{"id": "c", "text": "Four."}, {"text": "Five."}]},
    ]
    path = write(tmp_path, "a.jsonl", "\n".join(json.dumps(entry) for entry in entries) + "\n\n")
    assert [(p.id, p.line, p.heading, p.text) for p in read_documents(path)] == [
        (f"{path}:1", 1, "", "One."),
        ("7", 2, "How?", "Two."),
        (f"{path}:3", 3, "T > Q", "Three."),
        ("c", 5, "", "Four."),
        (f"{path}:5+2", 5, "", "Five."),
    ]


def test_a_question_without_an_answer_is_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "a.csv").write_text("question,answer\nHow long?,Three days.\nHow much?,\nWho?, \n", "utf-8")
    (tmp_path / "b.jsonl").write_text('{"question": "Who?", "answer": ""}\n{"text": ""}\n', "utf-8")
    assert [each.text for each in read_documents(tmp_path / "a.csv")] == ["Three days."]
    assert not list(read_documents(tmp_path / "b.jsonl"))
    first, second = caplog.messages
    assert "a.csv:3: a question without an answer is left out, and 1 more; write its answer" in first
    assert "b.jsonl:1: a question without an answer is left out; write its answer beside it" in second


def test_an_answer_that_is_labelled_wrong_is_no_row_of_an_faq(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.csv").write_text(
        "question,answer,label\nWho?,Ann.,0\nWho?,Bob.,1\nWho?,Cy.,\nWho?,Di.,-1\nWho?,Ed.,false\nWho?,Flo.,Pets\n",
        "utf-8",
    )
    asked = [{"question": "?", "answer": f"{label}.", "label": label} for label in ("no", True, False)]
    write(tmp_path, "b.jsonl", "\n".join(map(json.dumps, [{"text": "Plain.", "label": 0}, *asked])))
    assert [each.text for each in read_documents(tmp_path / "a.csv")] == ["Bob.", "Cy.", "Flo."]
    assert [each.text for each in read_documents(tmp_path / "b.jsonl")] == ["Plain.", "True."]
    told, _ = caplog.messages
    assert "a.csv:2: an answer labelled 0, which is wrong, is left out, and 2 more" in told


def test_csv_rows(tmp_path: Path) -> None:
    path = write(
        tmp_path, "a.csv", 'ID, Question,Answer\n1,How?,"Line one,\nline ""two""."\n\n,,"Three."\n3,No,\n'
    )
    assert [(p.id, p.line, p.heading, p.text) for p in read_documents(path)] == [
        ("1", 2, "How?", 'Line one,\nline "two".'),
        (f"{path}:5", 5, "", "Three."),
    ]


def test_the_line_with_which_excel_says_what_separates_is_no_header(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "sep=,\nquestion,answer\nHow?,So.\n")
    assert [(p.line, p.heading, p.text) for p in read_documents(path)] == [(3, "How?", "So.")]
    path = write(tmp_path, "a.csv", "sep=;\nquestion;answer\nHow?;So.\n")
    assert [(p.line, p.heading, p.text) for p in read_documents(path)] == [(3, "How?", "So.")]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_columns_are_separated_as_spreadsheets_of_any_country_do(tmp_path: Path, mark: str) -> None:
    rows = [["question", "answer"], ["How, or why?", "So;\nor\tthus."], ["Who?", "Ann."]]
    quoted = "\n".join(
        mark.join(f'"{cell}"' if row else cell for cell in cells) for row, cells in enumerate(rows)
    )
    path = write(tmp_path, "a.csv", f"\n{quoted}\n")
    assert [(p.line, p.heading, p.text) for p in read_documents(path)] == [
        (3, "How, or why?", "So;\nor\tthus."),
        (5, "Who?", "Ann."),
    ]
    broken = write(tmp_path, "b.csv", f"question{mark}answer\nHow?{mark}So{mark}more\n")
    with pytest.raises(DataError, match="3 cells in this row, but 2 in the header"):
        list(read_documents(broken))


def test_a_megabyte_in_a_cell_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", 'text\n"' + "A sentence of some words. " * 40_000 + '"\n')
    assert len("".join(texts(path))) > 1_000_000


def test_gzip_and_capital_letters_in_names(tmp_path: Path) -> None:
    path = write(tmp_path, "A.MD.gz", gzip.compress(b"# H\n\nOne.", mtime=0))
    assert [(p.heading, p.text) for p in read_documents(path)] == [("H", "One.")]


def test_folders_are_read_in_order_without_hidden_and_other_files(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("b.txt", "a/z.md", "a/.hidden.md", ".git/x.txt", "a/pic.png"):
        write(tmp_path, name, f"This is {name}.")
    with caplog.at_level(logging.INFO, "demur"):
        assert texts(tmp_path) == ["This is a/z.md.", "This is b.txt."]
    assert "1 files of other kinds" in caplog.text
    assert texts(tmp_path) == [p.text for p in read_documents([str(tmp_path / "a"), tmp_path / "b.txt"])]


def test_in_a_folder_what_cannot_be_read_is_passed_over_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, "a.txt", b"fine\n\nb\xe4d")
    write(tmp_path, "b.csv", "question,reply\na,b")
    write(tmp_path, "c.md", "Good.")
    write(tmp_path, "d.jsonl", "[" * 100_000)
    assert texts(tmp_path) == ["Good."]
    first, second, third, count = [record.getMessage() for record in caplog.records]
    assert first.startswith(f"passed over: {tmp_path / 'a.txt'}:3: byte 0xe4 is not UTF-8")
    assert "no text among question, reply" in second and "d.jsonl:1" in third
    assert count == f"{tmp_path}: 3 of 4 files are passed over"
    assert {record.levelname for record in caplog.records} == {"WARNING"}
    with pytest.raises(DataError, match="is not UTF-8"):
        texts(tmp_path / "a.txt")
    (tmp_path / "c.md").unlink()
    with pytest.raises(DataError, match=r"none of its 3 files can be read; .*d\.jsonl:1: JSON that"):
        texts(tmp_path)


def test_empty_files_have_no_passages(tmp_path: Path) -> None:
    for name in ("a.txt", "a.md", "a.jsonl", "a.csv"):
        assert texts(write(tmp_path, name, "")) == []


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.txt", b"fine\nb\xe4d", ":2: byte 0xe4 is not UTF-8"),
        ("a.txt", b"\x89PNG\r\n\x1a\n\0\0", ":1: byte 0x89 is not UTF-8"),
        ("a.txt", b"PK\3\4\0\0", ":1: is binary"),
        ("a.png", b"PNG", "demur does not read files of this kind"),
        ("a.md.gz", gzip.compress(b"x" * 100_000, mtime=0)[:60], "broken gzip"),
        ("a.jsonl", b'{"text": "a"}\n[1]', ":2: a list where a JSON object was expected"),
        ("a.jsonl", b"{text: 1}", ":1: broken JSON"),
        (
            "a.jsonl",
            b'{"content": "x", "n": 1}',
            ":1: no text among content, n; name one of them text, passage",
        ),
        ("a.jsonl", b'{"text": null}', ":1: 'text' is not text but null"),
        ("a.jsonl", b'{"text": "\\ud800"}', ":1: half a character, U+D800"),
        ("a.jsonl", b'{"candidates": [{"text": "a"}, 3]}', ":1: candidate 2: is not an object"),
        ("a.jsonl", b'{"candidates": [{"id": "a"}]}', ":1: candidate 1: no text among id"),
        (
            "a.jsonl",
            b'{"text": "a", "title": {"a": 1}}',
            ":1: 'title' is an object, not text",
        ),
        ("a.jsonl", b'{"question": ["a?", "b"], "answer": "c"}', ":1: 'question' is a list, not text"),
        ("a.csv", b"question,reply\na,b", ":1: no text among question, reply"),
        ("a.csv", b"id,text\n1,a\n2,b,c", ":3: 3 cells in this row, but 2 in the header"),
        ("a.csv", b'id,text\n1,"a\n2,b\n', ":2: broken CSV in the row that starts here"),
        ("a.csv", b"id,text\r1,a\r2,b\r", ":1: a line ends as on old Macs"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    path = write(tmp_path, name, content)
    with pytest.raises(DataError) as error:
        list(read_documents(path))
    message = str(error.value)
    assert message.startswith(str(path))
    assert says in message
    assert "\n" not in message


def test_missing_files_and_empty_folders(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        list(read_documents(tmp_path / "no.md"))
    with pytest.raises(DataError, match="no file that demur reads"):
        list(read_documents(tmp_path))
    with KnowledgeBase(tmp_path / "h.kb") as kb:
        kb.put("notes", [Passage("1", "Ada rows.")])
        assert len(kb) == 1
    with pytest.raises(DataError, match=r"is a knowledge base.*; name it with --kb, or in Python"):
        list(read_documents(tmp_path / "h.kb"))


def test_a_paragraph_is_one_passage_if_it_is_short() -> None:
    assert list(Paragraph(["One", "two."], 3).passages("a", "H", "x")) == [
        Passage("x", "One two.", "a", 3, "H")
    ]
