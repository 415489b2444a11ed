from __future__ import annotations

import gzip
import io
import logging
import zipfile
from pathlib import Path

import pytest

from demur.errors import DataError, MissingExtra
from demur.kb.files import documents
from demur.kb.files.documents import read_documents
from kb_files import docx, paragraph, pdf, table

pytest.importorskip("mammoth")
pytest.importorskip("pypdfium2")
pytest.importorskip("selectolax")

BODY = 11
PAGES = [
    [(20, "Loans"), (BODY, "Tools are lent for one week, and a drill that is \\256ne comes with its char-"),
     (BODY, "ger.")],
    [(15, "Fees"), (BODY, "Twenty pence a day.")],
]  # fmt: skip
LIST = "".join(
    f'<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>'
    f"<w:r><w:t>{text}</w:t></w:r></w:p>"
    for text in ("a saw", "a drill")
)
NUMBERS = (
    '<?xml version="1.0"?><w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>'
)


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def said(path: Path, content: bytes) -> str:
    with pytest.raises(DataError) as error:
        list(read_documents(written(path, content)))
    message = str(error.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    return message


def test_a_passage_of_a_pdf_says_its_page(tmp_path: Path) -> None:
    path = written(tmp_path / "das Hand büch.pdf", pdf(PAGES))
    assert [(p.source, p.line, p.heading, p.text) for p in read_documents(path)] == [
        (
            f"{path}, page 1",
            None,
            "Loans",
            "Tools are lent for one week, and a drill that is fine comes with its charger.",
        ),
        (f"{path}, page 2", None, "Loans > Fees", "Twenty pence a day."),
    ]
    assert len({p.id for p in read_documents(path)}) == 2


LONG = "Refunds go to the card that you paid with, and take up to five days to arrive at your bank."


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        pytest.param(
            [(-BODY, "Returns"), (BODY, LONG), (-BODY, "Opening hours"), (BODY, LONG)],
            [("Returns", LONG), ("Opening hours", LONG)],
            id="bold",
        ),
        pytest.param(
            [(-BODY, "Returns and other things that"), (-BODY, "you send back"), (BODY, LONG)],
            [("Returns and other things that you send back", LONG)],
            id="two bold lines",
        ),
        pytest.param(
            [
                (BODY, "Returns"),
                (BODY, LONG),
                (BODY, "Gift cards"),
                (BODY, "They are valid for three years."),
            ],
            [("Returns", LONG), ("Gift cards", "They are valid for three years.")],
            id="a short line above a text",
        ),
        pytest.param(
            [(BODY, LONG), (BODY, "Returns"), (BODY, LONG[:64])],
            [("", LONG), ("Returns", LONG[:64])],
            id="above a line of two thirds of the width",
        ),
        pytest.param(
            [(BODY, "1. Returns"), (BODY, LONG), (BODY, "2. Opening hours"), (BODY, LONG)],
            [("1. Returns", LONG), ("2. Opening hours", LONG)],
            id="numbered",
        ),
        pytest.param(
            [(BODY, LONG[:-1]), (-BODY, "Account Holders"), (BODY, "and nowhere else. " + LONG)],
            [("", f"{LONG[:-1]} Account Holders and nowhere else. {LONG}")],
            id="bold words in a sentence",
        ),
        pytest.param(
            [(BODY, LONG), (-BODY, "Never lend these."), (BODY, LONG)],
            [("", f"{LONG} Never lend these."), ("", LONG)],
            id="a bold sentence",
        ),
        pytest.param(
            [(BODY, LONG), (BODY, "Town Library"), (BODY, "12 High Street"), (BODY, "AB1 2CD")],
            [("", f"{LONG} Town Library 12 High Street AB1 2CD")],
            id="an address",
        ),
        pytest.param(
            [(BODY, LONG), (BODY, "1. Take the saw"), (BODY, "2. Cut the wood"), (BODY, "3. Clean the saw")],
            [("", LONG), ("", "1. Take the saw\n2. Cut the wood\n3. Clean the saw")],
            id="a list",
        ),
        pytest.param(
            [(BODY, LONG), (BODY, "size = 3 * days"), (BODY, "LENGTH = days"), (BODY, LONG)],
            [("", f"{LONG} size = 3 * days LENGTH = days {LONG}")],
            id="code",
        ),
    ],
)
def test_headings_of_a_pdf_may_be_as_large_as_its_text(
    tmp_path: Path, page: list[tuple[int, str]], expected: list[tuple[str, str]]
) -> None:
    passages = read_documents(written(tmp_path / "a.pdf", pdf([page])))
    assert [(each.heading, each.text) for each in passages] == expected


def test_a_heading_of_a_pdf_that_asks_is_the_question_of_its_text(tmp_path: Path) -> None:
    page = [(BODY, "How do I cancel my order?"), (BODY, LONG), (-BODY, "3. May I pay later?"), (BODY, LONG)]
    passages = read_documents(written(tmp_path / "a.pdf", pdf([page])))
    assert [(each.question, each.text) for each in passages] == [
        ("How do I cancel my order?", LONG),
        ("May I pay later?", LONG),
    ]


def test_running_titles_and_numbers_of_pages_are_left_out(tmp_path: Path) -> None:
    pages = [
        [(BODY, "The handbook"), (BODY, f"What stands on page {'abcdef'[n]}."), (BODY, f"Page {n}")]
        for n in range(6)
    ]
    texts = [p.text for p in read_documents(written(tmp_path / "a.pdf", pdf(pages)))]
    assert texts == [f"What stands on page {letter}." for letter in "abcdef"]


def test_items_of_a_pdf_keep_their_lines(tmp_path: Path) -> None:
    page = [(BODY, "You need these:"), (BODY, "- a saw"), (BODY, "- a drill")]
    (passage,) = read_documents(written(tmp_path / "a.pdf", pdf([page])))
    assert passage.text == "You need these:\n- a saw\n- a drill"


def test_what_is_no_pdf_to_be_read_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.pdf"
    assert "is no PDF, whatever its name says" in said(path, b"plain text")
    assert "is no PDF, whatever its name says" in said(path, docx(""))
    assert "has no text, only pictures of it or nothing; run text recognition (OCR)" in said(path, pdf([[]]))
    assert "is locked by a password" in said(path, pdf(PAGES, encrypted=True))
    assert "is a broken PDF" in said(path, pdf(PAGES)[:60])
    monkeypatch.setenv("DEMUR_READ_PAGES", "9")
    told = said(path, pdf([[]] * 10))
    assert "has 10 pages, and more than 9 are not read; to allow more, set DEMUR_READ_PAGES" in told


def test_docx_keeps_headings_lists_and_tables(tmp_path: Path) -> None:
    body = paragraph("Loans", "Heading1") + paragraph("One week.") + table([["Tool", "Days"], ["saw", "3"]])
    path = written(tmp_path / "a b.docx", docx(body))
    assert [(p.source, p.line, p.heading, p.text) for p in read_documents(path)] == [
        (str(path), None, "Loans", "One week."),
        (str(path), None, "Loans", "Tool: saw; Days: 3"),
    ]


def test_a_bold_line_of_a_docx_is_a_heading_of_the_text_below(tmp_path: Path) -> None:
    cells = "".join(f"<w:tc>{paragraph(text, bold=True)}{paragraph('2')}</w:tc>" for text in ("saw", "drill"))
    lines = [
        ("Loans", True),
        ("One week.", False),
        ("Never lend saws.", True),
        ("Two.", False),
        ("Bold", True),
    ]
    body = paragraph("Tools", "Heading1") + "".join(paragraph(text, bold=bold) for text, bold in lines)
    path = written(
        tmp_path / "a.docx", docx(body + f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>" + paragraph("End."))
    )
    assert [(each.heading, each.text) for each in read_documents(path)] == [
        ("Tools > Loans", "One week."),
        ("Tools > Loans", "Never lend saws."),
        ("Tools > Loans", "Two."),
        ("Tools > Bold", "saw 2; drill 2"),
        ("Tools > Bold", "End."),
    ]


@pytest.mark.parametrize(
    "rows", [[["Monday", "open"], ["Tuesday", "closed"]], [["Phone", "12"], ["Fax", "13"]], [["Only", "row"]]]
)
def test_a_first_row_of_a_docx_that_names_nothing_is_a_row(tmp_path: Path, rows: list[list[str]]) -> None:
    path = written(tmp_path / "a.docx", docx(table(rows)))
    assert [each.text for each in read_documents(path)] == ["; ".join(row) for row in rows]


def test_a_list_of_a_docx_comes_with_its_lead_in(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.docx", docx(paragraph("Bring:") + LIST, {"word/numbering.xml": NUMBERS.encode()})
    )
    assert [p.text for p in read_documents(path)] == ["Bring:\n- a saw\n- a drill"]


def test_a_docx_in_gzip_is_read_too(tmp_path: Path) -> None:
    path = written(tmp_path / "a.docx.gz", gzip.compress(docx(paragraph("One."))))
    assert [p.text for p in read_documents(path)] == ["One."]


def test_what_is_no_docx_to_be_read_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.docx"
    assert "is no DOCX file, or only a part of one" in said(path, b"plain text")
    assert "is no DOCX file, or only a part of one" in said(path, docx(paragraph("One."))[:-40])
    assert "is in Word's old format, or locked by a password" in said(path, b"\xd0\xcf\x11\xe0" + b"\0" * 600)
    assert "cannot be read" in said(path, docx("<w:p>"))
    monkeypatch.setenv("DEMUR_READ_UNPACKED", "2")
    bomb = docx(paragraph("One."), {"word/media/picture.png": b"\0" * (3 << 20)})
    assert len(bomb) < 100_000
    assert "unpacks to more than 2 MB; to allow more, set DEMUR_READ_UNPACKED" in said(path, bomb)
    with zipfile.ZipFile(io.BytesIO(docx(paragraph("One.")))) as small:
        rest = (2 << 20) - sum(part.file_size for part in small.infolist())
    written(path, docx(paragraph("One."), {"word/media/picture.png": bytes(rest)}))
    assert [p.text for p in read_documents(path)] == ["One."], "just as much as is allowed"


def test_entities_that_grow_are_refused(tmp_path: Path) -> None:
    grown = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    text = f'<!DOCTYPE d [<!ENTITY e0 "ha">{grown}]><d>&e11;</d>'
    assert "cannot be read" in said(tmp_path / "a.docx", docx("", {"word/document.xml": text.encode()}))


def test_in_a_folder_the_rest_is_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    written(tmp_path / "a.pdf", b"no")
    written(tmp_path / "b.docx", docx(paragraph("Two.")))
    written(tmp_path / "c.html", b"<p>Three.")
    written(tmp_path / "d.md", b"Four.")
    assert [p.text for p in read_documents(tmp_path)] == ["Two.", "Three.", "Four."]
    assert "a.pdf: is no PDF" in caplog.text and "1 of 4 files are passed over" in caplog.text


def test_without_the_extra_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(documents, "find_spec", lambda module: None)
    path = written(tmp_path / "a.pdf", pdf(PAGES))
    with pytest.raises(MissingExtra, match=r"a.pdf: this needs pypdfium2.*pip install 'demur\[formats\]'"):
        list(read_documents(path))
    with caplog.at_level(logging.WARNING), pytest.raises(DataError, match=r"its only file cannot be read"):
        list(read_documents(tmp_path))
    written(tmp_path / "b.pdf", pdf(PAGES))
    written(tmp_path / "c.txt", b"Three.")
    caplog.clear()
    assert [p.text for p in read_documents(tmp_path)] == ["Three."]
    first, count = [record.getMessage() for record in caplog.records]
    assert "pip install 'demur[formats]'" in first and "2 of 3 files are passed over" in count
