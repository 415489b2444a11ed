"""Passages with a title: how BEIR and Tevatron hold a candidate.

A candidate's text is the title, a space and the passage's text, as both projects feed it to their models;
the title alone is kept in the extra ``title``.
"""

from __future__ import annotations

from pathlib import Path

from demur.data.formats.shared.checks import Place, shown, unwritable
from demur.data.formats.shared.jsonlines import Object, checked_extra, id_of, other_keys, text_of
from demur.types import Candidate, Pool


def candidate(passage: Object, key: str, label: int | None, place: Place) -> Candidate:
    """The candidate that a passage is; its id is under the key."""
    text, title = text_of(passage, "text", place), passage.get("title") or ""
    extra = other_keys(passage, frozenset({key, "text", "title"}), place)
    if title:
        extra["title"] = text_of(passage, "title", place)
        text = joined(title, text)
    id = id_of(passage, key, place)
    return Candidate(id, text, label, extra) if extra else Candidate(id, text, label)


def joined(title: str, text: str) -> str:
    """A title and a text as one text."""
    return f"{title} {text}" if title and text else title or text


def passage(candidate: Candidate, key: str, pool: Pool, path: str | Path) -> Object:
    """The passage that a candidate is; its title, if it has one, must begin its text."""
    title, text = candidate.extra.get("title", ""), candidate.text
    if "title" in candidate.extra:
        rest = text[len(title) + 1 :] if isinstance(title, str) else ""
        if not title or not isinstance(title, str) or joined(title, rest) != text:
            what = f"has a candidate {candidate.id!r} whose text does not begin with its title {shown(title)}"
            raise unwritable(
                pool, what, path, "put title and a space before the text, or drop the extra 'title'"
            )
        text = rest
    extra = {name: value for name, value in candidate.extra.items() if name != "title"}
    return {
        key: candidate.id,
        "title": title,
        "text": text,
        **checked_extra(extra, frozenset({key, "text"}), pool, path),
    }
