"""Elements within each other without end: cut before parsing, which takes the square of their depth."""

from __future__ import annotations

import re
from collections import Counter

from demur.kb.formats.webpage_text import INLINE, names

DEEPEST = 512
"""Elements that may be open at a place, as in browsers; the tags of more are left out, not their text."""
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|textarea|title)\b.*?(?:</\1|\Z)|<(/?)([a-z][a-z0-9-]*)[^<>]*>?",
    re.DOTALL | re.IGNORECASE,
)
_UNCLOSED = names(  # they have no end, or may be left open
    "area base br col embed hr img input link meta param source track wbr "
    "body colgroup dd dt head html li optgroup option p rp rt tbody td tfoot th thead tr"
)


def shallow(content: bytes | str) -> bytes | str:
    """The page without the tags of elements that are too deep."""
    if isinstance(content, bytes):
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return shallow(content.decode("utf-16", "replace"))
        return _cut(content.decode("latin-1")).encode("latin-1")
    return _cut(content)


def _cut(page: str) -> str:
    open_, left_out = Counter[str](), Counter[str]()
    depth = 0

    def kept(found: re.Match[str]) -> str:
        nonlocal depth
        tag, ends, whole = (found[3] or "").lower(), found[2], found[0]
        if not tag or (tag in _UNCLOSED and depth < DEEPEST):
            return whole
        if ends and left_out[tag]:
            left_out[tag] -= 1
        elif ends:
            if open_[tag]:
                open_[tag] -= 1
                depth -= 1
            return whole
        elif depth < DEEPEST:
            open_[tag] += 1
            depth += 1
            return whole
        else:
            left_out[tag] += tag not in _UNCLOSED
        return "" if tag in INLINE else " "

    return page if page.count("<") < DEEPEST else _TAG.sub(kept, page)
