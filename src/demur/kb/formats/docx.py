"""DOCX as passages, by mammoth: headings, paragraphs, lists and tables."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from demur.errors import DataError
from demur.kb.files.limits import Limits, more
from demur.kb.formats.webpage import passages_of_markup
from demur.kb.passages import Passage

_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
_BOLD_LINE = re.compile(
    r"<table>.*?</table>|<p><strong>([^<]{0,119}[^<.,;:?!])</strong></p>(?=<(?:p|ul|ol|table)>(?!<strong>))",
    re.DOTALL,
)
"""A table, which stays as it is, or a bold line above a text, as people make headings."""
_OLD = b"\xd0\xcf\x11\xe0"  # what files of Word begin with that are old, or locked by a password


def passages_of_docx(content: bytes, path: str, limits: Limits) -> Iterator[Passage]:
    """The passages of a Word document, each with the headings above it."""
    if content.startswith(_OLD):
        what = "is in Word's old format, or locked by a password"
        raise DataError(what, path=path, fix="save it as .docx, without a password")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            parts = packed.infolist()
    except zipfile.BadZipFile:
        raise DataError("is no DOCX file, or only a part of one", path=path, fix="save it again") from None
    # More than a part says of its size is never unpacked.
    if sum(part.file_size for part in parts) > limits.unpacked << 20:
        what = f"unpacks to more than {limits.unpacked:,} MB"
        raise DataError(what, path=path, fix=more("unpacked"))
    if not any(part.filename.endswith(".xml") for part in parts):
        raise DataError("is a zip archive, but no DOCX file", path=path, fix="unpack it first")
    import mammoth

    made = mammoth.convert_to_html(
        io.BytesIO(content), style_map=_STYLES, convert_image=_no_image, include_embedded_style_map=False
    )
    markup = _BOLD_LINE.sub(lambda found: f"<h6>{found[1]}</h6>" if found[1] else found[0], made.value)
    yield from passages_of_markup(f"<main>{markup}</main>", path, anchors=False)


def _no_image(image: Any) -> list[Any]:
    return []
