"""PDF as passages, by PDFium: the text of each page, its headings known by the size of their letters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from demur.errors import DataError
from demur.kb.files.limits import Limits, more
from demur.kb.passages import MARKER, Paragraph, Passage

_HYPHEN = re.compile(r"(?:[\x02\xad\ufffe]|(?<=[^\W\d_])-(?=\r?\n[a-zà-ÿ]))(?:\r?\n)?")  # a word goes on
_LIGATURES = str.maketrans(dict(zip("ﬀﬁﬂﬃﬄﬅﬆ", ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)))
_LARGE = 1.12  # times the usual size of letters: a heading's
_APART = 1.4  # times the usual distance of lines: another paragraph
_LONGEST_HEADING = 120  # characters
_REPEATED = 4  # pages that begin or end with the same line, but for numbers, and more than half of all


@dataclass(slots=True)
class _Line:
    text: str
    size: float
    top: float


def passages_of_pdf(content: bytes, path: str, limits: Limits) -> Iterator[Passage]:
    """The passages of a PDF; each is of one page, which its source names."""
    if b"%PDF-" not in content[:1024]:
        raise DataError("is no PDF, whatever its name says", path=path, fix="rename it, or save it as PDF")
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            fix = "save a copy without one"
            raise DataError("is locked by a password", path=path, fix=fix) from None
        raise DataError(f"is a broken PDF ({error})", path=path, fix="save or download it again") from None
    if len(document) > limits.pages:
        what = f"has {len(document):,} pages, and more than {limits.pages:,} are not read"
        raise DataError(what, path=path, fix=more("pages"))
    pages = [_lines(document, number) for number in range(len(document))]
    if not any(pages):
        what = "has no text, only pictures of it or nothing"
        raise DataError(what, path=path, fix="run text recognition (OCR) on it first")
    yield from _passages(_without_repeated(pages), path)


def _lines(document: Any, number: int) -> list[_Line]:
    """The lines of a page, from the top as the file has them."""
    from pypdfium2 import raw

    page = document[number]
    words = page.get_textpage()
    text = words.get_text_range()
    found = []
    begin = 0
    for line in text.split("\n"):
        shown = line.strip()
        if shown:
            at = begin + len(line) - len(line.lstrip())
            size = raw.FPDFText_GetFontSize(words.raw, at)
            try:
                _, bottom, _, top = words.get_charbox(at, loose=True)
            except Exception:  # a sign without a place
                bottom, top = 0.0, 0.0
            found.append(_Line(shown, size if size > 1.5 else top - bottom, top))
        begin += len(line) + 1
    words.close()
    page.close()
    return found


def _without_repeated(pages: Sequence[list[_Line]]) -> list[list[_Line]]:
    """The pages without running titles and numbers of pages."""
    edges = Counter(key for page in pages for key in {_key(line) for line in (*page[:1], *page[-1:])})
    often = {key for key, count in edges.items() if count >= _REPEATED and count > len(pages) / 2} | {"0"}
    kept = []
    for page in pages:
        while page and _key(page[0]) in often:
            page = page[1:]
        while page and _key(page[-1]) in often:
            page = page[:-1]
        kept.append(page)
    return kept


def _key(line: _Line) -> str:
    return re.sub(r"\d+", "0", line.text)


def _passages(pages: Sequence[Sequence[_Line]], path: str) -> Iterator[Passage]:
    sizes = Counter[float]()
    for page in pages:
        for line in page:
            sizes[round(line.size, 1)] += len(line.text)
    usual = max(sizes, key=lambda size: sizes[size], default=0.0)
    trail: list[tuple[float, str]] = []
    for number, page in enumerate(pages, 1):
        source = f"{path}, page {number}"
        for place, group in enumerate(_groups(page, usual), 1):
            text = _joined(group)
            size = group[0].size
            if size > _LARGE * usual and len(text) <= _LONGEST_HEADING:
                trail = [(other, title) for other, title in trail if other > size + 0.5] + [(size, text)]
                continue
            heading = " > ".join(title for _, title in trail)
            for passage in Paragraph([text], 0).passages(source, heading, f"{path}:{number}.{place}"):
                yield replace(passage, line=None)


def _groups(page: Sequence[_Line], usual: float) -> Iterator[list[_Line]]:
    """The lines that belong together: as large, no further apart than usual, and not after a finished one."""
    steps = [upper.top - lower.top for upper, lower in pairwise(page)]
    steps = sorted(step for step in steps if step > 0.5 * usual)
    # Where paragraphs are short, half of the steps may be wide.
    pitch = steps[len(steps) // 4] if steps else 0.0
    widest = max((len(line.text) for line in page), default=0)
    held: list[_Line] = []
    for line in page:
        if held:
            last = held[-1]
            item = bool(MARKER.match(line.text))
            led = item and last.text.endswith(":")
            within = item and any(MARKER.match(each.text) for each in held)
            far = not -pitch < last.top - line.top <= (_APART + led) * max(pitch, usual)
            done = not item and len(last.text) < 0.6 * widest and last.text[-1] in ".?!"
            if abs(line.size - last.size) > 0.5 or far or done or (item and not led and not within):
                yield held
                held = []
        held.append(line)
    if held:
        yield held


def _joined(lines: Sequence[_Line]) -> str:
    """The lines as one text: words that were parted at a line's end are whole, items have their own lines."""
    text = "\n".join(line.text for line in lines)
    text = _HYPHEN.sub("", text).translate(_LIGATURES)
    text = re.sub(r"\n(?!(?:[-*+•]|\d{1,3}[.)])\s)", " ", text)
    return re.sub(r"[\x00-\x09\x0b-\x1f]", "", text).strip()
