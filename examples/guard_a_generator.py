"""Retrieval-augmented generation in which demur decides whether the generator may speak.

    python examples/guard_a_generator.py [FOLDER [QUESTION…]]

`generate` is any function of a question and passages: a call to your model's API, or a local model. What
demur promises is about the passage that it found. It does not check what the generator makes of it.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import demur
from demur.asking import Session
from demur.asking.example import passages


def generate(question: str, passages: list[str]) -> str:
    """Put your model here. This one only repeats the best passage."""
    return passages[0]


def answer(session: Session, question: str, generate: Callable[[str, list[str]], str]) -> str:
    """What the generator says, with its source; or why it was not asked."""
    found = session.ask(question, top=3)
    if isinstance(found, demur.Abstention):
        return f"I do not know: {found.reason}."
    best = found.candidate.extra
    said = generate(question, [candidate.text for candidate in found.ranking.candidates])
    return f"{said}\n(from {best['source']}, line {best['line']})"


session = Session.open(Path(sys.argv[1]) if sys.argv[1:] else passages())
for question in sys.argv[2:] or ["What does a household ticket cost?", "Who won the cup in 1966?"]:
    print(f"\n{question}\n{answer(session, question, generate)}")
