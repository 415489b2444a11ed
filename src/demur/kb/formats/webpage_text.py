"""The text in an element of a web page, as it is shown: parts of a line stand together, blocks apart."""

from __future__ import annotations

import re
from typing import Any

DEEPEST = 150
"""Elements within each other; what is deeper comes as one text."""
_CHARSET = re.compile(rb"charset\s*=|<\?xml[^>]*encoding\s*=", re.I)
_HEAD = 4096  # bytes in which a page says what its characters are


def names(tags: str) -> frozenset[str]:
    """The tags in a text."""
    return frozenset(re.findall(r"\S+", tags))


UNSEEN = names(
    "audio canvas datalist embed head iframe input map math nav noscript object option picture script select "
    "style svg template textarea title video -comment del s strike"
)
INLINE = names(
    "-text a abbr acronym b bdi bdo big button cite code data dfn em font i img ins kbd label mark meter "
    "output q rp rt ruby samp small span strong sub sup time tt u var wbr br"
)


def flat(node: Any, depth: int = 0) -> str:
    """The text in an element, with spaces around blocks."""
    if node.tag == "-text":
        return node.text_content or ""
    if node.tag in UNSEEN:
        return ""
    if node.tag == "br":
        return " "
    if depth > DEEPEST:
        return f" {node.text(separator=' ')} "
    text = "".join(flat(each, depth + 1) for each in node.iter(include_text=True))
    return text if node.tag in INLINE else f" {text} "


def light(node: Any, depth: int = 0) -> str:
    """The text of a part of a line that is not bold."""
    if node.tag == "-text":
        return node.text_content or ""
    if node.tag in ("b", "strong", *UNSEEN) or depth > DEEPEST:
        return ""
    return "".join(light(each, depth + 1) for each in node.iter(include_text=True))


def as_browsers_read(content: bytes) -> bytes | str:
    """A page as browsers read it that says nothing of its characters and has none of UTF-8; else as it is."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") or _CHARSET.search(content[:_HEAD]):
        return content
    if content.isascii() or not content.decode("utf-8", "ignore").isascii():
        return content  # a broken byte may be among them
    return content.decode("cp1252", "replace")
