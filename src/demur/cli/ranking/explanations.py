"""How explanations look: words paired, and on a terminal marked in the candidate, the stronger the more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from demur.cli.console import harmless, note, one_line, say, stdout

if TYPE_CHECKING:
    from rich.text import Text

    from demur.cli.printed.answers import Pair
    from demur.cli.printed.answers import Span as PlainSpan
    from demur.rankers import Ranker
    from demur.rankers.explanations import Explanation
    from demur.types import Candidate, Span

_PAIRS = 12  # shown to people; JSON has all
_STYLES = ((0.7, "bold reverse"), (0.4, "bold underline"), (0.1, "underline"))  # from which share of the most


def explanations(ranker: Ranker, question: str, candidates: Sequence[Candidate]) -> dict[str, Explanation]:
    """The explanation of each candidate's text; of a ranker that has none that is said in a line."""
    from demur.rankers.explanations import Explains

    if isinstance(ranker, Explains):
        texts = [candidate.text for candidate in candidates]
        return dict(zip(texts, ranker.explain(question, texts), strict=True))
    note(f"{ranker.name} cannot say which words its scores come from; alignment, bm25 and overlap can")
    return {}


def plain_pairs(explanation: Explanation) -> list[Pair]:
    """The pairs of words, ready for JSON."""
    return [
        {
            "question": _plain(pair.question),
            "answer": _plain(pair.answer),
            "similarity": pair.similarity,
            "weight": pair.weight,
            "contribution": pair.contribution,
        }
        for pair in explanation.pairs
    ]


def _plain(span: Span) -> PlainSpan:
    return {"start": span.start, "end": span.end, "text": span.text}


def pair_line(explanation: Explanation) -> str:
    """The pairs that add most, and what they add, in a line; a word met several times is said once."""
    adds: dict[tuple[int, str], list[float]] = {}
    words: dict[tuple[int, str], str] = {}
    for pair in explanation.pairs:
        key = pair.question.start, pair.answer.text.casefold()
        adds.setdefault(key, []).append(pair.contribution)
        words.setdefault(key, f"{pair.question.text} → {pair.answer.text}")
    most_first = sorted(adds, key=lambda key: -sum(adds[key]))
    shown = [
        f"{words[key]} {sum(adds[key]):.3f}{f' ({len(adds[key])}×)' if len(adds[key]) > 1 else ''}"
        for key in most_first[:_PAIRS]
    ]
    more = f", and {len(adds) - _PAIRS} more" if len(adds) > _PAIRS else ""
    return ", ".join(shown) + more or "no words are paired"


def show(ranked: Sequence[tuple[Candidate, float]], explained: dict[str, Explanation]) -> None:
    """Print candidates and scores, best first, each with its pairs of words."""
    console = stdout()
    if not console.is_terminal:
        for number, (candidate, score) in enumerate(ranked, 1):
            say(f"{number:>3}  {score:8.4f}  {' '.join(candidate.text.splitlines())}")
            say(f"{'':15}{pair_line(explained[candidate.text])}")
        return
    from rich.table import Table
    from rich.text import Text

    sums = [answer_words(explained[candidate.text]) for candidate, _ in ranked]
    most = max((add for each in sums for add in each.values()), default=0.0)
    table = Table.grid(padding=(0, 2))
    for column in ("right", "right", "left"):
        table.add_column(justify=column)
    for number, (candidate, score) in enumerate(ranked, 1):
        table.add_row(f"{number:>3}", f"{score:8.4f}", marked(candidate.text, sums[number - 1], most))
        table.add_row("", "", Text(harmless(pair_line(explained[candidate.text])), "dim"))
    console.print(table)


def answer_words(explanation: Explanation) -> dict[tuple[int, int], float]:
    """What each word of the answer adds to the score, by where it starts and ends."""
    adds: dict[tuple[int, int], float] = {}
    for pair in explanation.pairs:
        place = pair.answer.start, pair.answer.end
        adds[place] = adds.get(place, 0.0) + pair.contribution
    return adds


def marked(text: str, adds: dict[tuple[int, int], float], most: float) -> Text:
    """The text in one line, its words marked by their share of the most that any adds."""
    from rich.text import Text

    shown = Text(one_line(text))
    for (start, end), add in adds.items():
        style = next((style for share, style in _STYLES if most > 0 and add >= share * most), "")
        shown.stylize(style, start, end)
    return shown
