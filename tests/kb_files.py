"""Small files of the kinds that are read in a process apart, and readers that do harm."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

from demur.kb.files.limits import Limits
from demur.kb.passages import Passage

_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = (
    f'{_XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    f'{_XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
    'officeDocument" Target="word/document.xml"/></Relationships>'
)
_STYLES = (
    f'{_XML}<w:styles xmlns:w="{_WORD}"><w:style w:type="paragraph" w:styleId="Heading1">'
    '<w:name w:val="heading 1"/></w:style></w:styles>'
)
_STYLE_RELATIONS = (
    f'{_XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="r1" Type="{_OFFICE}/styles" '
    'Target="styles.xml"/>'
    f'<Relationship Id="r2" Type="{_OFFICE}/numbering" '
    'Target="numbering.xml"/></Relationships>'
)


def pdf(pages: Sequence[Sequence[tuple[int, str]]], encrypted: bool = False) -> bytes:
    """A PDF; each line of a page has a size of letters, which are bold where it is below 0.

    \\256 is the ligature fi in its font's encoding. An empty line is a gap.
    """
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    font = (
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica"
        "/Encoding<</BaseEncoding/WinAnsiEncoding/Differences[174/fi]>>>>"
    )
    bold = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold>>"
    objects = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>", font]
    for number, page in enumerate(pages):
        top, said = 780, []
        for size, line in page:
            top -= abs(size) + 6
            said.append(f"BT /F{1 + (size < 0)} {abs(size)} Tf 72 {top} Td ({line}) Tj ET")
        content = "\n".join(said)
        objects += [
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R/F2 {bold}>>>>"
            f"/Contents {5 + 2 * number} 0 R>>",
            f"<</Length {len(content)}>>stream\n{content}\nendstream",
        ]
    lock = ""
    if encrypted:
        objects.append(f"<</Filter/Standard/V 1/R 2/P -4/O<{'41' * 32}>/U<{'42' * 32}>>>")
        lock = f"/Encrypt {len(objects)} 0 R/ID[<{'43' * 16}><{'43' * 16}>]"
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, text in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{text}\nendobj\n".encode("latin-1")
    begin = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer<</Size {len(objects) + 1}/Root 1 0 R{lock}>>\nstartxref\n{begin}\n%%EOF\n".encode()
    return bytes(out)


def docx(body: str, more: dict[str, bytes] | None = None) -> bytes:
    """A Word document with this body, as its XML."""
    document = f'{_XML}<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'
    parts = {
        "[Content_Types].xml": _TYPES.encode(),
        "_rels/.rels": _RELATIONS.encode(),
        "word/document.xml": document.encode(),
        "word/styles.xml": _STYLES.encode(),
        "word/_rels/document.xml.rels": _STYLE_RELATIONS.encode(),
        **(more or {}),
    }
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return file.getvalue()


def paragraph(text: str, style: str = "", bold: bool = False) -> str:
    """A paragraph of a Word document."""
    letters = "<w:rPr><w:b/></w:rPr>" if bold else ""
    kind = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{kind}<w:r>{letters}<w:t>{text}</w:t></w:r></w:p>"


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table of a Word document."""
    told = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in told)}</w:tbl>"


def one(content: bytes, path: str, limits: Limits) -> Iterator[Passage]:
    """A reader of one passage."""
    yield Passage(path, f"{len(content)} {os.getpid()}", path)


def hangs(content: bytes, path: str, limits: Limits) -> Iterator[Passage]:
    """A reader that never comes to an end, after one passage."""
    yield Passage(path, "One.", path)
    time.sleep(3600)


def eats(content: bytes, path: str, limits: Limits) -> Iterator[Passage]:
    """A reader that takes more and more memory."""
    held = []
    while True:
        held.append(bytearray(16 << 20))


def crashes(content: bytes, path: str, limits: Limits) -> Iterator[Passage]:
    """A reader that takes its process down, as a library in C may."""
    if content:
        os.abort()
    yield Passage(path, "One.", path)


def prints(content: bytes, path: str, limits: Limits) -> Iterator[Passage]:
    """A reader whose library prints."""
    os.write(1, b"a warning\n")
    yield from one(content, path, limits)


def floods(content: bytes, path: str, limits: Limits) -> Iterator[Passage]:
    """A reader that makes more and more text of a small file."""
    while True:
        yield Passage(path, "x" * 100_000, path)


HERE = Path(__file__).parent
