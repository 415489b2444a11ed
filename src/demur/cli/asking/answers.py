"""How answers and abstentions look: wrapped and set off by weight on a terminal, plain lines elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demur.cli.console import harmless
from demur.errors import count_of
from demur.types import Abstention, Answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.text import Text

    from demur.asking import Gate
    from demur.types import Candidate

_WIDEST = 88
_INDENT = "   "


def show(
    result: Answer | Abstention,
    console: Console,
    stem: str = "english",
    gate: Gate | None = None,
    explain: bool = False,
    of_base: bool = False,
    least: float | None = None,
) -> None:
    """Print the best passage whole and the others in two lines each, or the reason for saying nothing.

    The question's words are marked, with whatever ending in the language to stem. Of a gate its promise is
    printed, and how far it goes if that is to be explained; of one that is set aside, the chance that is the
    least it would have answered.
    """
    from rich.text import Text

    from demur.asking.quoting import asked
    from demur.cli.asking.quotations import line, marked, passage
    from demur.cli.asking.reasons import reasons

    words = asked(result.question, stem)
    others = list(result.ranking.candidates)
    number = 1
    _print(console, Text(" ".join(result.question.split()), "bold cyan"), "")
    console.print()
    if isinstance(result, Answer):
        _print(console, marked(passage(others[0]), words, stem), "1  ")
        _print(console, _origin(others[0], words))
        others, number = others[1:], 2
    else:
        _print(console, Text.assemble(("No answer: ", "bold yellow"), f"{result.reason}."))
        if others:
            console.print()
            _print(console, Text("Nearest miss, which is not given as an answer:", "dim"))
    room = _width(console) - len(_INDENT) if console.is_terminal else None
    for candidate in others:
        console.print()
        shown = line(candidate, room)
        if isinstance(result, Abstention):
            shown.stylize("dim")
        _print(console, marked(shown, words, stem), f"{number}  ")
        _print(console, _origin(candidate))
        number += 1
    if isinstance(result, Answer) and (also := _also_answer(result)):
        console.print()
        _print(console, Text(also, "dim italic"))
    for told in reasons(result.ranking.candidates, words) if explain else ():
        console.print()
        _print(console, Text(told, "dim italic"))
    for told in _promised(result, gate, explain, "--kb BASE" if of_base else "--from FILES", least):
        console.print()
        _print(console, Text(told, "dim italic"))
    console.print()


def _also_answer(result: Answer) -> str:
    """Which of the other passages answer the very question that the first one does, each from another row."""
    from demur.asking.quoting import also_answers

    others = [
        str(number)
        for number, each in enumerate(result.ranking.candidates[1:], 2)
        if also_answers(result.candidate, each)
    ]
    unseen: int = result.candidate.extra.get("also_answered_by", 0)
    named = [f"Passage{'' if len(others) == 1 else 's'} {', '.join(others)}"] if others else []
    named += [f"{count_of(unseen, 'passage')} not shown"] if unseen else []
    if not named:
        return ""
    answer = "answers" if len(others) + unseen == 1 else "answer"
    which = " and ".join(named)
    return f"{which} {answer} the same question as passage 1: these files have several answers to it."


def _promised(
    result: Answer | Abstention, gate: Gate | None, explain: bool, asked: str, least: float | None
) -> Iterator[str]:
    """How sure the answer is, what is promised about it, and how far that goes."""
    from demur.asking.quoting import same
    from demur.risk.gates.certificate import sure, told_apart

    if (
        isinstance(result, Answer)
        and result.certificate is None
        and same(result.question, result.candidate.extra["heading"])
    ):
        yield "This very question stands there with its answer, so no gate has to decide."
        return
    if gate is None:
        if isinstance(result, Answer):
            chance = "chance" in result.candidate.extra
            by = "the chance that it is right" if chance else "by the reader"
            stated = "" if result.confidence is None else f"Confidence {sure(result.confidence)}, {by}. "
            if chance and least is not None and result.confidence is not None:
                shown, enough = told_apart(result.confidence, least)
                stated = f"Confidence {shown}, {by}, where {enough} is enough. "
            which = "No gate is set" if least is None else "The gate is set aside"
            yield f"{stated}{which}, so nothing is promised about errors."
        return
    from demur.asking.gates.base_gate import BaseGate
    from demur.cli.risk.promises import confident, elsewhere, notes
    from demur.risk.gates.gate import Gate as SavedGate

    saved = gate.gate if isinstance(gate, BaseGate) else gate
    if not isinstance(saved, SavedGate):  # one of somebody's own making says nothing that could be shown
        return
    promise = gate.promise if isinstance(gate, BaseGate) else saved.promise
    if isinstance(result, Answer) and result.confidence is not None:
        yield " ".join((confident(saved, result.confidence), promise, *elsewhere(saved, asked)))
    elif isinstance(gate, BaseGate) and gate.lapsed:
        yield promise
    if explain and (far := notes(saved)):
        yield "\n".join(far)


def _origin(candidate: Candidate, words: list[str] | None = None) -> Text:
    """File, line and heading of a passage and, if asked for, which of the words it matches."""
    from rich.text import Text

    source, line, heading, copies, matched = (
        candidate.extra[key] for key in ("source", "line", "heading", "copies", "matched")
    )
    parts = [
        (source if line is None else f"{source}:{line}") if source else f"text {candidate.id}",
        heading,
        f"and {copies} more like it" if copies else "",
        f"{len(matched)} of {len(words)} words: {', '.join(matched)}" if words and matched else "",
    ]
    return Text(" · ".join(part for part in parts if part), "dim")


def _width(console: Console) -> int:
    return max(20, min(console.width, _WIDEST))


def _print(console: Console, text: Text, lead: str = _INDENT) -> None:
    """Print a text, the lead before its first line and as much room before the others."""
    from rich.text import Text

    if console.is_terminal:
        text.plain = harmless(text.plain)
        lines = list(text.wrap(console, _width(console) - len(lead)))
    else:
        lines = list(text.split("\n"))
    for line in lines:
        line.rstrip()
        console.print(Text.assemble(lead, line))
        lead = " " * len(lead)
