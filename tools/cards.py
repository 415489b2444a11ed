"""What the cards of the models that come with demur have in common: data, their terms, and tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from demur.data import sources
from demur.data.subsets import SAYS_MUCH
from tools import overlaps
from tools.written import is_written

RISKS = (0.05, 0.1, 0.2, 0.3, 0.4)
"""Those that gates are made for, where they can be promised."""
USUAL, SURE = 0.2, 0.95  # the risk of gate.json, or the next that can be promised; and the confidence
LEFT_OUT = Path(__file__).resolve().parents[1] / "results" / "mini" / "left_out.json"
FAILURES = LEFT_OUT.with_name("failures.json")
TYPOS = 0.15  # of the words of a question, in `tools.mini_failures`
_FOOLED = {
    "near misses": "of questions whose right passages were taken away",
    "letters": "of questions of random letters",
}
_MADE_ON = {"own": "made on this set alone", "all": "on all sets", "others": "on all sets but this"}
BEGAN = """all-MiniLM-L6-v2, which it began from, had learnt from a billion pairs of texts, questions of Yahoo
Answers and SQuAD among them, as its card says: what these share with test sets is not counted here."""
_SHARED = """No recipe names a test set, and covidfaq is never learnt from. But the datasets share texts.
{what} has so many of a test set's questions, and of its passages of {least} words or more; `right` are
those passages that are right answers there. `{command}` counts them by a hash of their
words, and a test holds the data of all recipes against that."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def terms(names: Iterable[str]) -> list[str]:
    """For each dataset of these data, what was taken, and under which terms.

    Behind a name and a space may stand what it was taken for.
    """
    used: dict[str, list[str]] = {}
    for part in filter(_is_a_dataset, names):
        name, space, why = part.partition(" ")
        used.setdefault(name.partition("/")[0], []).append(f"`{name}`{space}{why}")
    return [
        f"- {name}: {', '.join(dict.fromkeys(parts))}; licence {facts.licence}. {facts.citation}."
        for name, parts in used.items()
        for facts in [sources.facts(name)]
    ]


def _is_a_dataset(name: str) -> bool:
    return not name.startswith("build/") and not is_written(name)


def shared(of: Mapping[str, str]) -> str:
    """What a model has met of the test sets, by what each of `overlaps.kept()["together"]` is called here."""
    kept = overlaps.kept()
    head = ["test set", *(f"{called}: {kind}" for called in of.values() for kind in overlaps.KINDS)]
    rows, none = [], []
    for test, whole in kept["test sets"].items():
        met = [overlaps.count(name, test, kind) for name in of for kind in overlaps.KINDS]
        every = [whole[kind] for _ in of for kind in overlaps.KINDS]
        if any(met):
            cells = (f"{some:,} of {all_:,}" for some, all_ in zip(met, every, strict=True))
            rows.append([f"`{test}`", *cells])
        else:
            none.append(f"`{test}`")
    what = "What it learnt from" if len(of) == 1 else "Each part of what it was made from"
    said = _SHARED.format(what=what, least=SAYS_MUCH, command=kept["command"])
    return f"{said}\n\n{table(head, rows)}\n\nNothing is shared with {', '.join(none)}."


def percents(risks: Iterable[float]) -> str:
    """Risks as they are said."""
    return ", ".join(f"{risk:.0%}".replace("%", " %") for risk in sorted(risks))


def left_out(risks: Sequence[float]) -> str:
    """What `tools.mini_left_out` measured: a row for each set and risk, a column for each gate."""
    found: dict[str, Any] = json.loads(LEFT_OUT.read_text("utf-8"))
    rows = []
    for name, row in found["sets"].items():
        for risk in risks:
            cells = [_gate(row[str(risk)][said], row["questions"], risk) for said in _MADE_ON]
            rows.append([name, f"{row['questions']:,}", f"{row['first right']:,}", percents([risk]), *cells])
    return table(["set", "questions", "first right", "at most wrong", *_MADE_ON.values()], rows)


def failures() -> str:
    """What `tools.mini_failures` measured: a row for each set and way to ask."""
    found: dict[str, Any] = json.loads(FAILURES.read_text("utf-8"))
    rows = []
    for name, ways in found["sets"].items():
        for way, row in ways.items():
            said = []
            for which in ("shipped", "retaught"):
                one = row[which]
                apart = "" if one["told apart"] is None else f", {one['told apart']:.3f}"
                said.append(f"{_answered(one, row['questions'])}{apart}")
            rows.append([name, way, f"{row['questions']:,}", *said])
    return table(
        ["set", "asked", "questions", "the gate that comes with `mini`", "one that learnt from more"], rows
    )


def fooled() -> str:
    """How much of what has no right answer the gate that comes with `mini` answers, set by set."""
    sets: dict[str, Any] = json.loads(FAILURES.read_text("utf-8"))["sets"]
    said = []
    for way, words in _FOOLED.items():
        rows = {name: ways[way] for name, ways in sets.items()}
        shares = {name: row["shipped"]["answered"] / row["questions"] for name, row in rows.items()}
        most = max(shares, key=lambda name: shares[name])
        said.append(f"{words} {min(shares.values()):.0%} to {shares[most]:.0%} ({most})")
    return f"- By the gate for {percents([USUAL])} it answered {'; '.join(said)}."


def _answered(one: Mapping[str, int], questions: int) -> str:
    if not one["answered"]:
        return "nothing answered"
    return f"{one['answered'] / questions:.1%}, {one['wrong'] / one['answered']:.0%} wrong"


def _gate(one: dict[str, int] | None, questions: int, risk: float) -> str:
    if one is None:
        return "no gate"
    if not one["answered"]:
        return "nothing answered"
    wrong = one["wrong"] / one["answered"]
    said = f"{one['answered'] / questions:.0%}, {wrong:.0%} wrong"
    return f"**{said}**" if wrong > risk else said
