"""What may have led a ranker to a wrong answer, by rules that anybody can check; `docs/cases.md` has them.

An error can be in several groups. Rules see words, not meaning, and those about questions know English.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from demur.evaluation.comparison.wording import Wording, names_in, wording
from demur.text import fold
from demur.types import Pool

GROUPS = {
    "overlap_misled": "word overlap misled",
    "number_or_name_mismatch": "number or name mismatch",
    "no_shared_words": "no shared words",
    "labelled_differently": "several right answers labelled differently",
    "near_duplicate": "near-duplicate of a right answer",
    "other": "none of these",
}
"""The groups, in the order in which they are shown, and what they are called."""

_ASKS = re.compile(r"\b(who|whose|whom|where|when|what|which|why|how)\b\W*(\w*)")
_HOW = "many much old long far tall high big large fast often deep heavy wide"
_WHAT = "year date day time age number percentage"
_OF_NUMBERS = {"how": _HOW.split(), "what": _WHAT.split(), "which": _WHAT.split()}
"""What follows the question word where a number is asked for."""


def groups_of(pool: Pool, chosen: int, rights: Sequence[int], doubtful: Collection[int] = ()) -> list[str]:
    """The groups of an error: `chosen` stands first and is wrong, `rights` are the right answers.

    `doubtful` are the wrong candidates that are near-duplicates of right ones.
    """
    names, question = names_in(pool), wording(pool.question)
    texts = [wording(text) for text in pool.answers]
    wrong, right = texts[chosen], [texts[n] for n in rights]
    found = {
        "overlap_misled": len(question.stems & wrong.stems)
        > max((len(question.stems & text.stems) for text in right), default=0),
        "number_or_name_mismatch": any(_mismatch(pool.question, wrong, text, names) for text in right),
        "no_shared_words": not any(question.stems & text.stems for text in right),
        "labelled_differently": any(_says_as_much(question, wrong, text, names) for text in right),
        "near_duplicate": chosen in doubtful,
    }
    return [name for name, holds in found.items() if holds] or ["other"]


def _facts(text: Wording, names: frozenset[str]) -> frozenset[str]:
    return text.numbers | (text.words & names)


def _mismatch(question: str, wrong: Wording, right: Wording, names: frozenset[str]) -> bool:
    """Whether the right answer alone has a number or name of the question, or one of the kind it asks for."""
    said = wording(question)
    if (_facts(said, names) & _facts(right, names)) - wrong.words:
        return True
    wanted = asks_for(question)
    if wanted == "number":
        return bool(right.numbers - said.words) and not wrong.numbers - said.words
    if wanted == "name":
        return bool((right.words & names) - said.words) and not (wrong.words & names) - said.words
    return False


def _says_as_much(question: Wording, wrong: Wording, right: Wording, names: frozenset[str]) -> bool:
    """Whether the wrong answer has all numbers and names that the right one adds to the question."""
    added = _facts(right, names) - question.words
    return bool(added) and added <= wrong.words


def asks_for(question: str) -> str:
    """Whether a question asks for a ``number`` or a ``name``; nothing where that cannot be told."""
    found = _ASKS.search(fold(question))
    if found is None:
        return ""
    word, following = found.groups()
    if word == "when" or following in _OF_NUMBERS.get(word, ()):
        return "number"
    return "name" if word in ("who", "whose", "whom", "where") else ""
