"""How answers and abstentions look: wrapped and set off by weight on a terminal, plain lines elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demur.cli.console import harmless
from demur.types import Abstention, Answer, Candidate, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.text import Text

    from demur.risk.gate import Gate

_WIDEST = 88
_AROUND = 240  # characters shown before and after a quotation
_LONGEST = 640  # characters quoted
_INDENT = "   "


def show(
    result: Answer | Abstention,
    console: Console,
    stem: str = "english",
    gate: Gate | None = None,
    explain: bool = False,
) -> None:
    """Print the best passage whole and the others in two lines each, or the reason for saying nothing.

    The question's words are marked, with whatever ending in the language to stem. Of a gate its promise is
    printed, and how far it goes if that is to be explained.
    """
    from rich.text import Text

    from demur.asking.quoting import asked

    words = asked(result.question, stem)
    others = list(result.ranking.candidates)
    number = 1
    _print(console, Text(" ".join(result.question.split()), "bold cyan"), "")
    console.print()
    if isinstance(result, Answer):
        _print(console, _passage(others[0], words, stem), "1  ")
        _print(console, _origin(others[0], words))
        others, number = others[1:], 2
    else:
        _print(console, Text.assemble(("No answer: ", "bold yellow"), f"{result.reason}."))
        if others:
            console.print()
            _print(console, Text("What came nearest, but is not given as an answer:", "dim"))
    for candidate in others:
        console.print()
        _print(console, _sentence(candidate, words, stem, console), f"{number}  ")
        _print(console, _origin(candidate))
        number += 1
    for line in _promised(result, gate, explain):
        console.print()
        _print(console, Text(line, "dim italic"))
    console.print()


def _promised(result: Answer | Abstention, gate: Gate | None, explain: bool) -> Iterator[str]:
    """What is promised about an answer, and how far that goes."""
    if gate is None:
        if isinstance(result, Answer):
            yield "No gate is set, so nothing is promised about errors."
        return
    from demur.cli.promises import confident

    if isinstance(result, Answer) and result.confidence is not None:
        yield f"{confident(gate, result.confidence)} {gate.promise}"
    if explain:
        yield "\n".join(f"– {line}" for line in gate.scope)


def _passage(candidate: Candidate, words: list[str], stem: str) -> Text:
    """The passage with its quotation in quotation marks; of a long passage, what stands around it."""
    from rich.text import Text

    text, span = candidate.text, _span(candidate)
    start, end = max(0, span.start - _AROUND), min(len(text), span.end + _AROUND)
    if start:
        start = 1 + max(text.find(" ", start, span.start), start - 1)
    if end < len(text):
        end = max(text.rfind(" ", span.end, end), span.end)
    shown = Text.assemble(
        (f"… {text[start : span.start]}" if start else text[: span.start], "dim"),
        (f"“{_clipped(span.text, _LONGEST)}”", "bold"),
        (f"{text[span.end : end]} …" if end < len(text) else text[span.end :], "dim"),
    )
    return _marked(shown, words, stem)


def _sentence(candidate: Candidate, words: list[str], stem: str, console: Console) -> Text:
    """What would be quoted from a passage, in one line."""
    from rich.text import Text

    room = _width(console) - len(_INDENT) if console.is_terminal else _AROUND
    return _marked(Text(_clipped(" ".join(_span(candidate).text.split()), room)), words, stem)


def _origin(candidate: Candidate, words: list[str] | None = None) -> Text:
    """File, line and heading of a passage and, if asked for, which of the words it matches."""
    from rich.text import Text

    source, line, heading, copies, matched = (
        candidate.extra[key] for key in ("source", "line", "heading", "copies", "matched")
    )
    parts = [
        f"{source}:{line}" if source else f"text {candidate.id}",
        heading,
        f"and {copies} more like it" if copies else "",
        f"{len(matched)} of {len(words)} words: {', '.join(matched)}" if words else "",
    ]
    return Text(" · ".join(part for part in parts if part), "dim")


def _span(candidate: Candidate) -> Span:
    return candidate.extra["span"] or Span(0, 0, "")


def _clipped(text: str, length: int) -> str:
    """The text, or as many of its words as there is room for."""
    if len(text) <= length:
        return text
    kept = text[: length - 1]
    return f"{kept[: kept.rfind(' ') if ' ' in kept else -1].rstrip()} …"


def _marked(shown: Text, words: list[str], stem: str) -> Text:
    """The text with the words underlined."""
    from demur.asking.quoting import places

    for start, end in places(words, shown.plain, stem):
        shown.stylize("underline", start, end)
    return shown


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
