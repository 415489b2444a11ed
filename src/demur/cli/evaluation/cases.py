"""`demur evaluate --cases`: the questions on which two rankers differ, and their errors by group."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from demur.cli.console import emit, meter, note, one_line, stdout
from demur.cli.evaluation.pools import read_pools, tell_doubts
from demur.errors import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.text import Text

    from demur.evaluation import Report
    from demur.evaluation.comparison.cases import Case, Cases, Choice
    from demur.types import Pool

LONGEST = 400  # characters of an answer that people are shown; JSON has all
LEADS = "+: how far each puts its choice above the other's, in standard deviations of its scores"
_VERDICTS = {True: ("right", "green"), False: ("wrong", "red")}


def _one_file(one: str, other: str) -> bool:
    return Path(one).is_file() and Path(other).is_file() and Path(one).samefile(other)


def measure_cases(
    between: tuple[str, str], data: str | None, read_as: str | None, top: int, output: str | None, json: bool
) -> None:
    """Find the cases of two reports or rankers, and show or write them."""
    from demur.errors import DataError, UsageError
    from demur.evaluation import cases
    from demur.files import replacing

    if data is None:
        one, other = between
        raise UsageError(
            f"cases need the questions and their labels; name DATA: demur evaluate DATA --cases {one} {other}"
        )
    if between[0] == between[1] or _one_file(*between):
        raise UsageError(f"{between[0]} is named twice; name two rankers, or two reports")
    pools = read_pools(data, read_as)
    found = cases({_named(each, between): _report(each, pools, data) for each in between}, pools, data=data)
    if not found.every:
        why = ", ".join(f"{reason}: {count:,}" for reason, count in found.left_out.items() if count)
        fix = "name labelled questions that both have ranked"
        raise DataError(f"no question tells the two rankers apart ({why})", path=data, fix=fix)
    tell_doubts(pools, data)
    if output is not None:
        from json import dump

        with replacing(output) as file:
            dump(found.to_json(), file, ensure_ascii=False, indent=1, allow_nan=False)
            file.write("\n")
        note(f"cases written to {output}")
    if json:
        emit(found.to_json())
    else:
        show(found, top, stdout())


def _is_report(given: str) -> bool:
    return given.endswith((".json", ".json.gz")) or Path(given).is_file()


def _named(given: str, between: tuple[str, str]) -> str:
    """What a report or ranker is called: a report by its file's name, if that tells it from the other."""
    short = [Path(each).name.removesuffix(".gz").removesuffix(".json") for each in between]
    if not _is_report(given) or short[0] == short[1]:
        return given
    return short[between.index(given)]


def _report(given: str, pools: Sequence[Pool], data: str) -> Report:
    """The report in a file, or that of a ranker, made now."""
    from demur.evaluation import Report, evaluate

    if _is_report(given):
        return Report.read(given)
    with meter(f"scoring by {given}", "pairs") as advance:
        return evaluate(given, pools, "P@1", data=data, on_batch=advance)


def show(found: Cases, top: int, console: Console) -> None:
    """Print who is right how often, the surest cases of each, and the errors by group."""
    marks = console.is_terminal and console.color_system is not None and not console.no_color
    one, other = found.rankers
    console.print(
        f"{one} and {other} on {found.data}: {count_of(len(found.every), 'question')}\n", markup=False
    )
    _show_counts(console, found)
    console.print(LEADS, style="dim")
    for place, (winner, loser) in enumerate(((one, other), (other, one))):
        _show_won(console, found.won(place), f"only {winner} is right, {loser} is wrong", top, marks)
    _show_errors(console, found)


def _show_counts(console: Console, found: Cases) -> None:
    from rich.markup import escape
    from rich.table import Table

    one, other = found.rankers
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    table.add_column(f"{escape(other)} right", justify="right")
    table.add_column(f"{escape(other)} wrong", justify="right")
    for right, word in ((True, "right"), (False, "wrong")):
        table.add_row(f"{escape(one)} {word}", *(f"{found.count(right, its):,}" for its in (True, False)))
    console.print(table)
    if out := [f"{reason}: {count:,}" for reason, count in found.left_out.items() if count]:
        console.print(f"left out: {', '.join(out)}", markup=False)


def _show_won(console: Console, won: list[Case], what: str, top: int, marks: bool) -> None:
    shown = f", the surest {top:,}" if top < len(won) else ", surest first" if len(won) > 1 else ""
    console.print(f"\n{what}: {count_of(len(won), 'question')}{shown}", markup=False, style="bold")
    for number, case in enumerate(won[:top], 1):
        question = one_line(case.question)
        console.print(f"\n{number}. {question}  ({one_line(case.id)})", markup=False)
        for choice in case.choices:
            console.print(_told(choice, max(len(each.ranker) for each in case.choices), marks))


def _told(choice: Choice, width: int, marks: bool) -> Text:
    """A line for a choice: whose, right or wrong, by how much, and its text with the shared words marked."""
    from rich.text import Text

    from demur.evaluation.comparison.error_groups import GROUPS

    word, colour = _VERDICTS[choice.right]
    text = Text(f"   {choice.ranker:<{width}}  ")
    text.append(word, colour)
    text.append(f"  +{choice.lead:.1f}  ")
    text.append_text(_marked(choice, marks))
    if choice.groups:
        text.append(f"  [{'; '.join(GROUPS[group] for group in choice.groups)}]", "dim")
    return text


def _marked(choice: Choice, marks: bool) -> Text:
    """The text of a choice in one line; words that the question has, too, are bold, or in asterisks."""
    from rich.text import Text

    whole = one_line(choice.candidate.text)
    shown, at = Text(), 0
    for span in choice.shared:
        if span.end > LONGEST:
            break
        word = whole[span.start : span.end]
        shown.append(whole[at : span.start])
        shown.append(word if marks else f"*{word}*", "bold" if marks else "")
        at = span.end
    shown.append(whole[at:LONGEST] + "…" * (len(whole) > LONGEST))
    return shown


def _show_errors(console: Console, found: Cases) -> None:
    from rich.markup import escape
    from rich.table import Table

    from demur.evaluation.comparison.error_groups import GROUPS

    console.print("\nwrong answers by group; one can be in several", style="bold")
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in found.rankers:
        table.add_column(escape(name), justify="right")
    wrong = [sum(not case.right[place] for case in found.every) for place in (0, 1)]
    table.add_row("all", *(f"{count:,}" for count in wrong))
    counts = [found.errors(place) for place in (0, 1)]
    for group, title in GROUPS.items():
        table.add_row(title, *(f"{each[group]:,}" for each in counts))
    console.print(table)
    held = found.doubtful
    said = f"labels in doubt: {held.labels:,} of {held.judged:,}"
    pairs = f"{count_of(held.pairs, 'pair')} of near-duplicates labelled right and wrong"
    console.print(f"\n{said}" + f", in {pairs}" * (held.pairs > 0), markup=False)
