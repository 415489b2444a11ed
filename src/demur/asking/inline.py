"""Markdown's marks within a line, taken away: what is left is what a reader sees."""

from __future__ import annotations

import re

_MARKED = re.compile(r"[*_`\[<\\]")
_CODE = re.compile(r"(`+)(.+?)\1")
_HIDDEN = re.compile(r"\0(\d+)\0")
_STEPS = [
    (re.compile(pattern), shown)
    for pattern, shown in (
        (r"!?\[([^\[\]]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)", r"\1"),  # [text](target), ![text](target "title")
        (r"\[([^\[\]]+)\]\[[^\[\]]*\]", r"\1"),  # [text][reference]
        (r"<(https?://[^>\s]+)>", r"\1"),
        (r"</?[A-Za-z][^<>]*>", ""),
        (r"(?<![\w\\])(\*\*|__)(?=\S)(.+?)(?<=\S)\1(?!\w)", r"\2"),
        (r"(?<![\w*\\])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?![\w*])", r"\1"),
        (r"(?<![\w\\])_(?=[^\s_])([^_]+?)(?<=\S)_(?!\w)", r"\1"),
        (r"\\([!-/:-@\[-`{-~])", r"\1"),
    )
]


def plain(text: str) -> str:
    """The text without emphasis, link targets and tags; what stands in backticks is left as it is."""
    if not _MARKED.search(text):
        return text
    codes: list[str] = []

    def hide(code: re.Match[str]) -> str:
        codes.append(code[2])
        return f"\0{len(codes) - 1}\0"

    text = _CODE.sub(hide, text.replace("\0", ""))
    for pattern, shown in _STEPS:
        text = pattern.sub(shown, text)
    return _HIDDEN.sub(lambda place: codes[int(place[1])], text).strip()
