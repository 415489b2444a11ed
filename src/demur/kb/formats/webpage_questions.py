"""The questions that a web page says it answers, in JSON-LD or in microdata (schema.org's FAQPage)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from demur.kb.formats.webpage_text import flat
from demur.text import bare


def answered(document: Any) -> dict[str, tuple[str, str]]:
    """Questions and answers by the key of the question."""
    found: dict[str, tuple[str, str]] = {}
    for script in document.css('script[type="application/ld+json"]'):
        try:
            told = json.loads(script.text())
        except (ValueError, RecursionError):  # of use to nobody
            continue
        for question, answer in _questions(told):
            found.setdefault(bare(question), (question, answer))
    for node in document.css('[itemtype$="schema.org/Question"]'):
        name, text = (
            node.css_first("[itemprop=name]"),
            node.css_first("[itemprop=acceptedAnswer] [itemprop=text]"),
        )
        if name is not None and text is not None:
            question, answer = _stated(name), _stated(text)
            if question and answer:
                found.setdefault(bare(question), (question, answer))
    return found


def shown(text: str) -> str:
    """The text on one line, without needless spaces."""
    return " ".join(text.split())


def _stated(node: Any) -> str:
    return shown(node.attributes.get("content") or flat(node))


def _questions(told: Any) -> Iterator[tuple[str, str]]:
    waiting = [told]
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, list):
            waiting[:0] = each
        elif isinstance(each, dict):
            kinds = each.get("@type")
            if "Question" in (kinds if isinstance(kinds, list) else [kinds]):
                question, answer = _plain(each.get("name") or each.get("text")), _answer(each)
                if bare(question) and answer:
                    yield question, answer
            else:
                waiting[:0] = [value for value in each.values() if isinstance(value, dict | list)]


def _answer(question: dict[str, Any]) -> str:
    answers = question.get("acceptedAnswer") or question.get("suggestedAnswer")
    some = answers if isinstance(answers, list) else [answers]
    return " ".join(filter(None, (_plain(each.get("text")) for each in some if isinstance(each, dict))))


def _plain(marked: object) -> str:
    """Text that may be HTML, as it is shown."""
    from selectolax.lexbor import LexborHTMLParser

    if not isinstance(marked, str):
        return ""
    if "<" not in marked and "&" not in marked:
        return shown(marked)
    body = LexborHTMLParser(marked).body
    return shown(flat(body)) if body is not None else ""
