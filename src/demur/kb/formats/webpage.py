"""HTML as passages, by selectolax: headings, text, lists, tables, definitions, questions with answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from demur.errors import DataError
from demur.kb.files.limits import Limits
from demur.kb.formats.faq_headings import LINE, asking, joined
from demur.kb.formats.webpage_depth import shallow
from demur.kb.formats.webpage_parts import is_list_of_questions, list_items, packed, table_lines, terms_of
from demur.kb.formats.webpage_questions import answered, shown
from demur.kb.formats.webpage_text import DEEPEST, INLINE, UNSEEN, as_browsers_read, flat, light
from demur.kb.passages import LONG, Paragraph, Passage
from demur.text import bare

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = "h1, h2, h3, h4, h5, h6, pre, table, dl, details"
_ASIDE = ("aside", "footer", "form")  # what stands here answers no question above
_SECTIONS = ("article", "section", *_ASIDE)
_LONGEST_HEADING = 200  # characters
_PIECES = 200  # of a line, at most, that may be a bold question


def passages_of_page(content: bytes, path: str, limits: Limits) -> Iterator[Passage]:
    """The passages of a web page, each with the headings above it and the nearest place that has an id."""
    if b"\0" in content[:4096] and content[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError("is binary, no HTML", path=path, fix="save the page as HTML")
    yield from passages_of_markup(as_browsers_read(content), path)


def passages_of_markup(content: bytes | str, path: str, anchors: bool = True) -> Iterator[Passage]:
    """The passages of HTML; headings and bold lines that ask are questions, with what stands below."""
    from selectolax.lexbor import LexborHTMLParser

    document = LexborHTMLParser(shallow(content), encoding=True)
    page = _Page(path, anchors, answered(document))
    yield from joined(_all(document, page), page.declared)


def _all(document: Any, page: _Page) -> Iterator[Passage]:
    known = page.known
    main = document.css_first("main, [role=main]")
    root = main if main is not None and main.text(strip=True) else document.body
    if root is not None:
        page.enter(root)
        title = document.css_first("head > title")
        if title is not None and root.css_first("h1") is None:
            page.trail[0] = shown(title.text())[:_LONGEST_HEADING]
        yield from page.within(root, 0)
        yield from page.paragraph()
        yield from page.finished()
        yield from page.unanswered()
    for question, (asked, answer) in known.items():
        if question not in page.met:
            yield from page.unseen(asked, answer)


class _Page:
    """A page as it is walked through: what stands above, and the text that is not finished."""

    def __init__(self, path: str, anchors: bool, known: dict[str, tuple[str, str]]) -> None:
        self.path, self.anchors, self.known = path, anchors, known
        self.trail: dict[int, str] = {}
        self.open: list[str] = []
        self.anchor = ""
        self.question = ""
        self.topic = ""  # the question as it stands there, where it is no heading
        self.bold = False  # whether the question is a bold line
        self.broken = False  # whether a line begins within a paragraph
        self.waits = ""  # such a line, until there is something below it
        self.met: set[str] = set()
        self.declared: set[str] = set()
        self.count = 0
        self.held: list[str] = []
        self.thin: list[str] = []  # what is held and not bold
        self.lead = ""

    def within(self, node: Any, depth: int) -> Iterator[Passage]:
        """The passages of what stands in an element."""
        child = node.child
        while child is not None:
            yield from self._node(child, depth + 1)
            child = child.next

    def paragraph(self) -> Iterator[Passage]:
        """The text up to here, as a passage, unless it is a question that the page says it answers."""
        text, self.held = shown("".join(self.held)), []
        bold, self.thin = not shown("".join(self.thin)), []
        if bare(text) in self.known:
            yield from self._ask(text, text)
        elif bold and (question := asking(text, LINE)):
            yield from self._ask(question, text, bold=True)
        elif text.endswith(":") and len(text) <= LONG // 2:
            yield from self.finished()
            self.lead = text
        elif text:
            if bold and self.bold:
                yield from self._ask("")
            yield from self._passages(text)

    def _ask(self, question: str, topic: str = "", bold: bool = False) -> Iterator[Passage]:
        """From here on a question is answered, one that is a heading or the line `topic`."""
        yield from self.finished()
        yield from self.unanswered()
        self.question, self.topic, self.bold = question, topic, bold
        self.waits = topic if bold else ""

    def unanswered(self) -> Iterator[Passage]:
        """A bold line that asks, as a passage of its own if nothing stood below it."""
        if self.waits:
            text, self.question, self.topic, self.bold = self.waits, "", "", False
            yield from self._passages(text)

    def finished(self) -> Iterator[Passage]:
        """What leads into a list or code, as a passage of its own if there came none."""
        lead, self.lead = self.lead, ""
        if lead:
            yield from self._passages(lead)

    def unseen(self, question: str, answer: str) -> Iterator[Passage]:
        """The passages of an answer that only stands in the page's data."""
        self.trail, self.anchor, self.question, self.topic = {}, "", question, question
        yield from self._passages(answer)

    def _node(self, node: Any, depth: int) -> Iterator[Passage]:
        tag = node.tag
        if tag in UNSEEN or (tag not in INLINE and node.attributes.get("role") == "navigation"):
            return
        if self._asks_so_far() and (tag == "-text" or tag in INLINE) and shown(light(node)):
            yield from self.paragraph()  # its answer follows on the same line
        if tag == "-text":
            self.broken = self.broken and not shown(node.text_content or "")
            self.held.append(node.text_content or "")
            self.thin.append(node.text_content or "")
        elif tag == "br":
            self.broken = True
            self.held.append(" ")
        elif tag in INLINE and (depth > DEEPEST or node.css_first(_BLOCKS) is None):
            if self.broken and asking(shown(node.text()), LINE) and not shown(light(node)):
                yield from self.paragraph()  # a bold line that asks, below the answer to another one
            self.broken = False
            self.enter(node)
            self.held.append(node.text())
            self.thin.append(light(node))
        elif depth > DEEPEST:
            yield from self.paragraph()
            self.held.append(node.text(separator=" "))
            yield from self.paragraph()
        else:
            if tag not in ("ul", "ol") or shown("".join(self.held)).endswith(":"):
                yield from self.paragraph()
            if tag in (*_HEADINGS, "dl", "details", "table"):
                yield from self.finished()
            before, name = self.anchor, self.enter(node)
            above = self.question, self.topic, self.bold
            if tag in _ASIDE:
                yield from self._ask("")
            yield from self._block(node, tag, depth)
            yield from self.paragraph()
            if name:
                yield from self.finished()
            if tag in _SECTIONS and (self.question, self.topic, self.bold) != above:
                yield from self._ask("")
                if tag in _ASIDE:
                    self.question, self.topic, self.bold = above
            if name and tag not in _HEADINGS:
                self.open.pop()
                self.anchor = before

    def _asks_so_far(self) -> bool:
        """Whether what is held of a paragraph is a bold question."""
        return (
            0 < len(self.held) <= _PIECES
            and not shown("".join(self.thin))
            and bool(asking(shown("".join(self.held)), LINE))
        )

    def enter(self, node: Any) -> str:
        """The id of an element; a heading's holds until the next heading, another's in the element."""
        attributes = node.attributes
        name = attributes.get("id") or (attributes.get("name") if node.tag == "a" else "") or ""
        if name and node.tag not in INLINE:
            self.anchor = name
            if node.tag not in _HEADINGS:
                self.open.append(name)
        return name

    def _block(self, node: Any, tag: str, depth: int) -> Iterator[Passage]:
        if tag in _HEADINGS:
            yield from self._heading(node, int(tag[1]))
        elif tag in ("ul", "ol") and node.css_first(_BLOCKS) is None and not is_list_of_questions(node):
            yield from self._list(node)
        elif tag == "table" and node.css_first(f"table table, {', '.join(_HEADINGS)}, details, dl") is None:
            yield from self._table(node)
        elif tag == "dl":
            yield from self._definitions(node)
        elif tag == "details":
            yield from self._details(node, depth)
        elif tag == "pre":
            if text := "\n".join(line.rstrip() for line in node.text().split("\n")).strip("\n"):
                lead, self.lead = self.lead, ""
                yield from self._passages(f"{lead}\n{text}" if lead else text)
        else:
            yield from self.within(node, depth)

    def _heading(self, node: Any, level: int) -> Iterator[Passage]:
        inside = next((each for each in node.css("[id], a[name]") if each.tag in INLINE), None)
        own = node.attributes.get("id") or (
            inside and (inside.attributes.get("id") or inside.attributes.get("name"))
        )
        self.anchor = own or (self.open[-1] if self.open else "")
        title = shown(node.text())[:_LONGEST_HEADING]
        yield from self._ask("")
        self.trail = {upper: text for upper, text in self.trail.items() if upper < level}
        self.question = title if bare(title) in self.known else asking(title)
        if title:
            self.trail[level] = title

    def _list(self, node: Any) -> Iterator[Passage]:
        """The list as one passage or, where it is long, as several with the same lead-in."""
        lead, self.lead = self.lead, ""
        if held := shown("".join(self.held)):
            self.held = []
            yield from self._passages(lead)
            lead = held
        if len(lead) > LONG // 2:
            yield from self._passages(lead)
            lead = ""
        for text in packed(lead, list_items(node)):
            yield from self._passages(text)

    def _table(self, table: Any) -> Iterator[Passage]:
        """Each row with the names of its columns, where the first row has names."""
        for text in table_lines(table, first_names=not self.anchors):  # without anchors it is a Word document
            yield from self._passages(text)

    def _definitions(self, node: Any) -> Iterator[Passage]:
        """Each definition under its term; a term that ends with a question mark is a question."""
        before, terms = (self.question, self.topic, self.anchor), list[str]()
        defined = False
        for each in terms_of(node):
            text = shown(flat(each))
            name = each.attributes.get("id")
            if each.tag == "dt":
                terms = [text] if defined else [*terms, text]
                defined = False
                self.anchor = name or before[2]
            elif text:
                term = " / ".join(filter(None, terms))
                defined = True
                self.anchor = name or self.anchor
                asks = term if bare(term) in self.known else asking(term)
                if asks:
                    self.question, self.topic = asks, term
                yield from self._passages(text if asks or not term else f"{term}: {text}")
                self.question, self.topic = before[:2]
        if terms and not defined:
            yield from self._passages(" / ".join(filter(None, terms)))
        self.question, self.topic, self.anchor = before

    def _details(self, node: Any, depth: int) -> Iterator[Passage]:
        """What unfolds, under what it unfolds from."""
        summary = node.css_first("summary")
        title = shown(summary.text())[:_LONGEST_HEADING] if summary is not None else ""
        before = self.trail, self.question, self.topic, self.bold
        asks = title if bare(title) in self.known else asking(title)
        yield from self._ask(asks or self.question, title if asks else self.topic)
        if title and not asks:
            self.trail = self.trail | {7 + len(self.trail): title}
        child = node.child
        while child is not None:
            if child.tag != "summary":
                yield from self._node(child, depth + 1)
            child = child.next
        yield from self.paragraph()
        yield from self._ask("")
        self.trail, self.question, self.topic, self.bold = before

    def _passages(self, text: str) -> Iterator[Passage]:
        yield from self.finished()
        if not text:
            return
        self.waits = ""
        if self.question and bare(self.question) in self.known:
            self.met.add(bare(self.question))
            self.declared.add(self.question)
        source = f"{self.path}#{self.anchor}" if self.anchors and self.anchor else self.path
        heading = " > ".join(filter(None, [*self.trail.values(), self.topic]))
        self.count += 1
        for passage in Paragraph([text], 0).passages(
            source, heading, f"{self.path}:{self.count}", self.question
        ):
            yield replace(passage, line=None)
