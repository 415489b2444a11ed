"""Lists and tables of a web page as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from demur.kb.faq_headings import LINE, asking
from demur.kb.flat import DEEPEST, flat
from demur.kb.passages import LONG
from demur.kb.questions import shown


def is_list_of_questions(node: Any) -> bool:
    """Whether each item of a list begins with a bold question."""
    items = [item for item in node.iter() if item.tag == "li"]
    bold = [item.css_first("b, strong") for item in items]
    return len(items) > 1 and all(
        each is not None and asking(text := shown(each.text()), LINE) and shown(item.text()).startswith(text)
        for item, each in zip(items, bold, strict=True)
    )


def list_items(node: Any, depth: int = 0) -> Iterator[str]:
    """Each item of a list and of the lists in it, with its mark; what stands between items has none."""
    number = 0
    for item in node.iter(include_text=True):
        if item.tag in ("ul", "ol") and depth < DEEPEST:
            yield from list_items(item, depth + 1)
        elif item.tag != "li":
            if text := shown(flat(item)):
                yield text
        else:
            number += 1
            mark = f"{number}." if node.tag == "ol" else "-"
            parts = list(item.iter(include_text=True))
            lists = [part for part in parts if part.tag in ("ul", "ol") and depth < DEEPEST]
            if text := shown("".join(flat(part) for part in parts if part not in lists)):
                yield f"{mark} {text}"
            for each in lists:
                yield from list_items(each, depth + 1)


def packed(lead: str, items: Iterable[str]) -> Iterator[str]:
    """The items as one text or, where they are long, as several with the same lead-in."""
    group: list[str] = []
    for item in items:
        if group and len("\n".join([lead, *group, item])) > LONG:
            yield "\n".join(filter(None, [lead, *group]))
            group = []
        group.append(item)
    if lead or group:
        yield "\n".join(filter(None, [lead, *group]))


def table_lines(table: Any) -> Iterator[str]:
    """The caption, and each row with the names of its columns, where the first row has names."""
    if (caption := table.css_first("caption")) is not None and (text := shown(caption.text())):
        yield text
    columns: list[str] = []
    for number, row in enumerate(table.css("tr")):
        cells = [each for each in row.iter() if each.tag in ("td", "th")]
        texts = [shown(flat(cell)) for cell in cells]
        heads = row.parent.tag == "thead" or all(cell.tag == "th" for cell in cells)
        if not number and len(cells) > 1 and heads:
            columns = texts
        elif len(columns) == len(texts):
            told = zip(columns, texts, strict=True)
            yield "; ".join(f"{name}: {text}" if name else text for name, text in told if text)
        else:
            yield "; ".join(filter(None, texts))
