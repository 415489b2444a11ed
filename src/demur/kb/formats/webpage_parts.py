"""Lists and tables of a web page as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from demur.kb.formats.faq_headings import LINE, asking
from demur.kb.formats.webpage_questions import shown
from demur.kb.formats.webpage_text import DEEPEST, flat
from demur.kb.passages import LONG

_LISTS = 3  # of definitions within each other


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


def terms_of(definitions: Any) -> Iterator[Any]:
    """The terms and definitions of a list and of the lists in it; of deeper ones the text is in these."""
    for each in definitions.css("dt, dd"):
        lists, above = 0, each.parent
        while above != definitions and lists < _LISTS:
            lists += above.tag == "dl"
            above = above.parent
        if lists < _LISTS:
            yield each


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


def table_lines(table: Any, first_names: bool = False) -> Iterator[str]:
    """The caption, and each row with the names of its columns, where the first row has names.

    It has if it is marked so. With `first_names`, as Word marks few tables, it also has if nothing is marked,
    no name has a digit, and in some column all that stands below has one.
    """
    if (caption := table.css_first("caption")) is not None and (text := shown(caption.text())):
        yield text
    columns: list[str] = []
    rows = [(row, [each for each in row.iter() if each.tag in ("td", "th")]) for row in table.css("tr")]
    told = [[shown(flat(cell)) for cell in cells] for _, cells in rows]
    unmarked = first_names and table.css_first("th") is None and _is_named(told)
    for number, ((row, cells), texts) in enumerate(zip(rows, told, strict=True)):
        heads = unmarked or row.parent.tag == "thead" or all(cell.tag == "th" for cell in cells)
        if not number and len(cells) > 1 and heads:
            columns = texts
        elif len(columns) == len(texts):
            named = zip(columns, texts, strict=True)
            yield "; ".join(f"{name}: {text}" if name else text for name, text in named if text)
        else:
            yield "; ".join(filter(None, texts))


def _is_named(rows: list[list[str]]) -> bool:
    """Whether the first row looks like names of columns."""
    names, *below = rows or [[]]
    if not below or not all(names) or any(map(_has_digit, names)):
        return False
    return any(map(_all_have_digits, zip(*(row for row in below if len(row) == len(names)), strict=True)))


def _all_have_digits(column: tuple[str, ...]) -> bool:
    return all(map(_has_digit, column))


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))
