"""Writes the card of the gates of `demur ask` (`python -m tools.meaning_card`).

What the gates do is read from what `tools.make_ask_gate` found, if that was of these very gates.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from demur.asking.packaged import MEANING_GATES, ROW_GATES
from demur.risk.gates.several import Gates, open_gates
from tools import overlaps
from tools.cards import RISKS, USUAL, percents, shared, table, terms

PLACE = Path(__file__).resolve().parents[1] / "results" / "asking"
ASKING = "the chance and gates of asking"
_TEXT, _ROWS = "on test sets", "FAQs, by their own gate"
_USUAL = f"{USUAL:g}"

_CARD = """# meaning: the gates of `demur ask`, whatever files are asked

Thresholds on the chance that the first passage is right, made by `{command}`: those here judge running text,
those in `faq` a row of an FAQ that comes first. `gate.json` is for a risk of 20 %, the others say theirs.
The chance is that of `chance.json`, one folder up, which `{chance}` made.

## What they are for

By these `demur ask` answers or says that it does not know, where nobody has labelled questions of the files
that are asked. About these files nothing is promised: `demur calibrate meaning LABELLED --from FILES` makes
a gate that does, and where wrong answers cost, that is the one to use. `docs/risk.md` in demur's sources says
what a promise is.

## Gates there are

{gates}

## How often answers were wrong

{measures}

## Known failures

{failures}
- A third of what the gates were calibrated on has no answer. Where more has none, as in SQuAD's dev set and
  in WikiQA, more of what is answered is wrong.

## Data and their terms

The chance learnt from questions of {learnt}; for FAQs, of {faqs}. The gates were calibrated on {calibrated}.

{shared}

{terms}
- Handbooks and FAQs that were written for this, with their questions, by a language model: `chance` and
  `gate` of `tools/handbooks` and `tools/faqs`.
- What they judge by are the models `encoder` and `mini`, whose cards say what these learnt from.
"""
_MEASURED = """Of questions of test sets: how many each gate answered, and how many of these answers were
wrong. Nothing was promised for these: in bold is where more was wrong than the gate says of what it was
calibrated on. To near misses, and to what is far from all that a file says, every answer is wrong.

"""


def text() -> str:
    """The page."""
    chance, gate = (json.loads((PLACE / f"{name}.json").read_text("utf-8")) for name in ("chance", "gate"))
    here, rows = open_gates(MEANING_GATES), open_gates(ROW_GATES)
    fingerprints = {each.certificate.ranker_fingerprint for each in (*here.gates, *rows.gates)}
    known = fingerprints == {gate["ranker"]}
    data = {each.certificate.data: each.certificate.questions for each in (here.of(), rows.of())}
    return _CARD.format(
        command=gate["command"],
        chance=chance["command"],
        gates=f"- For text: {_risks(here)}\n- For rows of an FAQ: {_risks(rows)}",
        measures=_measures(gate["sets"])
        if known
        else "Not measured yet: run `python -m tools.make_ask_gate`.",
        failures="\n".join(_failures(gate["sets"])) if known else "- Not measured yet.",
        learnt=_counts(chance["learnt on"]),
        faqs=_counts(chance["FAQs learnt on"]),
        calibrated="; for FAQs on ".join(f"{count:,} questions of {name}" for name, count in data.items()),
        shared=shared({ASKING: "met"}),
        terms="\n".join(terms(overlaps.CALIBRATED[ASKING])),
    )


def _risks(gates: Gates) -> str:
    """Which risks there are gates for, and which not."""
    known = {gate.certificate.risk for gate in gates.gates}
    none = set(RISKS) - known
    lacking = f"; none could be promised for {percents(none)}" if none else ""
    return f"for risks of {percents(known)}{lacking}."


def _counts(learnt: dict[str, int]) -> str:
    return "; ".join(f"{name} ({count:,})" for name, count in learnt.items())


def _measures(sets: dict[str, Any]) -> str:
    parts = []
    for named, what in ((_TEXT, "Text"), (_ROWS, "Rows of FAQs")):
        risks = sorted({key for row in sets[named].values() for key in row if key[0].isdigit()}, key=float)
        head = [what, "asked", *(f"at most {percents([float(risk)])} wrong" for risk in risks)]
        rows = [
            [name, str(row["questions"]), *(_cell(row.get(risk), float(risk)) for risk in risks)]
            for name, row in sets[named].items()
        ]
        parts.append(table(head, rows))
    return _MEASURED + "\n\n".join(parts)


def _cell(found: dict[str, int] | None, risk: float) -> str:
    if found is None:
        return "no gate"
    said = f"{found['answered']} answered, {found['wrong']} wrong"
    if not found["answered"]:
        return said
    share = found["wrong"] / found["answered"]
    return f"**{said} ({share:.0%})**" if share > risk else f"{said} ({share:.0%})"


def _failures(sets: dict[str, Any]) -> Iterator[str]:
    """Where more was wrong than the usual gates say; and what has no answer, yet was answered."""
    every = {name: row for named in (_TEXT, _ROWS) for name, row in sets[named].items()}
    usual = {name: (row, row[_USUAL]["answered"], row[_USUAL]["wrong"]) for name, row in every.items()}
    above = [
        f"{name} ({wrong / answered:.0%} of {answered})"
        for name, (row, answered, wrong) in usual.items()
        if row["right one found"] and wrong > USUAL * answered
    ]
    said = percents([USUAL])
    if above:
        yield f"- By the gates for {said}, more of what was answered was wrong on {'; '.join(above)}."
    missed = [
        f"{answered} of {row['questions']} ({name})"
        for name, (row, answered, _) in usual.items()
        if not row["right one found"] and answered
    ]
    if missed:
        yield f"- Near misses, to which every answer is wrong, were answered by them: {'; '.join(missed)}."


def main() -> None:
    """Write the page of the gates that are there."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    (MEANING_GATES / "README.md").write_text(text(), "utf-8")
    print(MEANING_GATES / "README.md", file=sys.stderr)


if __name__ == "__main__":
    main()
