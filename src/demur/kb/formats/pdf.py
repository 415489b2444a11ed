"""PDF as passages, by PDFium: the text of each page under its headings.

A heading has larger letters than the text, or bold ones, or is a short line that stands above the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from ctypes import byref, c_int, create_string_buffer
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from demur.errors import DataError
from demur.kb.files.limits import Limits, more
from demur.kb.formats.faq_headings import asking, joined
from demur.kb.passages import MARKER, Paragraph, Passage

_HYPHEN = re.compile(r"(?:[\x02\xad\ufffe]|(?<=[^\W\d_])-(?=\r?\n[a-zà-ÿ]))(?:\r?\n)?")  # a word goes on
_LIGATURES = str.maketrans(dict(zip("ﬀﬁﬂﬃﬄﬅﬆ", ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)))
_LARGE = 1.12  # times the usual size of letters: a heading's
_APART = 1.4  # times the usual distance of lines: another paragraph
_LONGEST_HEADING = 120  # characters
_LONGEST_ALONE = 60  # characters of one that looks like the text
_BOLD = re.compile(r"bold|black|heavy|demi|medi(?!um)|(?:^|\+)CMB|BX\d", re.I)  # in the names of fonts
_NO_TITLE = re.compile(r"[.,;:!-]\Z|[=<>{}\[\]@_|\\]")  # of text that goes on, or of code
_NUMBERED = re.compile(r"(?:\d{1,3}(?:\.\d{1,3})*[.)]?|[IVX]{1,5}\.|[A-Z]\.)\s+(?=\S)")
_WORD = re.compile(r"\S+")
_REPEATED = 4  # pages that begin or end with the same line, but for numbers, and more than half of all


@dataclass(slots=True)
class _Line:
    text: str
    size: float
    top: float
    left: float
    right: float
    bold: bool
    title: bool = False
    """Whether it is a heading, though its letters are no larger than those of the text."""

    @property
    def rank(self) -> float:
        """How high a heading stands: the size of its letters, and whether they are bold."""
        return self.size + 0.6 * self.bold


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
        why = str(error).partition("PDFium: ")[2].rstrip(").").lower() or str(error)
        raise DataError(f"is a broken PDF ({why})", path=path, fix="save or download it again") from None
    if len(document) > limits.pages:
        what = f"has {len(document):,} pages, and more than {limits.pages:,} are not read"
        raise DataError(what, path=path, fix=more("pages"))
    pages = [_lines(document, number) for number in range(len(document))]
    if not any(pages):
        what = "has no text, only pictures of it or nothing"
        raise DataError(what, path=path, fix="run text recognition (OCR) on it first")
    pages = _without_repeated(pages)
    usual = _usual(pages)
    for page in pages:
        _mark_titles(page, usual)
    yield from _passages(pages, usual, path)


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
            end = begin + len(line.rstrip()) - 1
            size = raw.FPDFText_GetFontSize(words.raw, at)
            try:
                left, bottom, _, top = words.get_charbox(at, loose=True)
                right = words.get_charbox(end, loose=True)[2]
            except Exception:  # a sign without a place
                left = bottom = right = top = 0.0
            size = size if size > 1.5 else top - bottom
            bold = all(_is_bold(words, at + word.start()) for word in _WORD.finditer(shown))
            found.append(_Line(shown, size, top, left, right, bold))
        begin += len(line) + 1
    words.close()
    page.close()
    return found


def _is_bold(words: Any, at: int) -> bool:
    from pypdfium2 import raw

    name = create_string_buffer(128)
    raw.FPDFText_GetFontInfo(words.raw, at, name, len(name), byref(c_int()))
    return bool(_BOLD.search(name.value.decode("latin-1")))


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


def _usual(pages: Sequence[Sequence[_Line]]) -> tuple[float, bool]:
    """The size of most letters, and whether most are bold."""
    sizes, bold = Counter[float](), Counter[bool]()
    for page in pages:
        for line in page:
            sizes[round(line.size, 1)] += len(line.text)
            bold[line.bold] += len(line.text)
    return max(sizes, key=lambda size: sizes[size], default=0.0), bold[True] > bold[False]


def _mark_titles(page: Sequence[_Line], usual: tuple[float, bool]) -> None:
    """Say of each line whether it is a heading by being bold, or by where it stands."""
    size, all_bold = usual
    far = _APART * _pitch(page, size)
    at = 0
    while at < len(page):
        end, line = at + 1, page[at]
        before = page[at - 1] if at else None
        if line.bold and not all_bold:
            while end < len(page) and page[end].bold and page[end - 1].top - page[end].top <= far:
                end += 1
            after = page[end] if end < len(page) and page[end - 1].top - page[end].top <= far else None
            goes_on = line.text[0].islower() or (after is not None and after.text[0].islower())
            long = sum(len(each.text) for each in page[at:end]) > _LONGEST_HEADING
            ended = page[end - 1].text[-1] in (",;" if _NUMBERED.match(line.text) else ".,;")
            title = not (goes_on or long or ended)
        else:
            above = not before or before.title or before.text[-1] in ".?!" or before.top - line.top > far
            title = above and end < len(page) and _stands_above(line, page[end], page)
        for each in page[at:end]:
            each.title = title
        at = end


def _stands_above(line: _Line, text: _Line, page: Sequence[_Line]) -> bool:
    """Whether a line with the letters of the text is a heading of the text that comes next.

    It is short and ended on purpose, as the first word of the text would have had room in it.
    """
    number = _NUMBERED.match(line.text)
    words = line.text[number.end() if number else 0 :]
    if len(line.text) > _LONGEST_ALONE or _NO_TITLE.search(line.text) or not words[:1].isupper():
        return False
    if not text.text.lstrip("\"'(“‘«")[:1].isupper() or _NUMBERED.match(text.text) or MARKER.match(text.text):
        return False
    edge = max(each.right for each in page if abs(each.left - line.left) < 3 * line.size)
    word = (text.right - text.left) * (len(text.text.split()[0]) + 1) / len(text.text)
    wide = edge - line.left
    return line.right + word < edge and (text.right - text.left > 0.6 * wide or text.text[-1] in ".?!")


def _passages(pages: Sequence[Sequence[_Line]], usual: tuple[float, bool], path: str) -> Iterator[Passage]:
    trail: list[tuple[float, str]] = []
    for number, page in enumerate(pages, 1):
        source = f"{path}, page {number}"
        found: list[Passage] = []
        for place, group in enumerate(_groups(page, usual[0]), 1):
            text = _joined(group)
            first = group[0]
            if (first.title or first.size > _LARGE * usual[0]) and len(text) <= _LONGEST_HEADING:
                rank = first.rank
                trail = [(other, title) for other, title in trail if other > rank + 0.5] + [(rank, text)]
                continue
            heading = " > ".join(title for _, title in trail)
            question = asking(trail[-1][1]) if trail else ""
            name = f"{path}:{number}.{place}"
            found += Paragraph([text], 0).passages(source, heading, name, question)
        yield from (replace(passage, line=None) for passage in joined(found))


def _pitch(page: Sequence[_Line], usual: float) -> float:
    """The usual distance of lines: where paragraphs are short, half of the steps may be wide."""
    steps = [upper.top - lower.top for upper, lower in pairwise(page)]
    steps = sorted(step for step in steps if step > 0.5 * usual)
    return max(steps[len(steps) // 4] if steps else 0.0, usual)


def _groups(page: Sequence[_Line], usual: float) -> Iterator[list[_Line]]:
    """The lines that belong together: as large, no further apart than usual, and not after a finished one."""
    pitch = _pitch(page, usual)
    widest = max((len(line.text) for line in page), default=0)
    held: list[_Line] = []
    for line in page:
        if held:
            last = held[-1]
            item = bool(MARKER.match(line.text))
            led = item and last.text.endswith(":")
            within = item and any(MARKER.match(each.text) for each in held)
            far = not -pitch < last.top - line.top <= (_APART + led) * pitch
            done = not item and len(last.text) < 0.6 * widest and last.text[-1] in ".?!"
            title = line.title != last.title or (line.title and not line.bold)
            if title or abs(line.size - last.size) > 0.5 or far or done or (item and not led and not within):
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
