"""The page on how well `demur ask` finds, ranks and demurs (`docs/asking.md`), from `results/asking`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tools import overlaps
from tools.written import is_written, written

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "asking"

HELD = "squad/2.0/train/held"

_HEAD = """# Asking: each part alone, the whole, and the gate

What `demur ask` does with a question, and how well each part of it does alone. Passages are found by
words and by meaning, `mini` reads the likeliest twelve, and what is known of each becomes the chance that
it is right ([decision 032](decisions/032-asking-by-meaning.md)).

## The whole against its parts

The weights were learnt without the dataset that stands in the row, from dev sets of the others. MAP over
the passages that were found, of questions that have a right one. `words` is the score by words (BM25), as a
share of the most that the question could give, `meaning` the cosine, `mini` the network's score. AUROC says
how often the chance of a right first passage is higher than that of a wrong one, where each question is also
asked with its right passages removed. `{chance}` makes it.

Rows of an FAQ have a question of their own. Meaning alone ranks these, and how likely the first one is was
learnt on FAQs made of one forum's threads and on FAQs written for this ({faqs}); so that forum's test threads
are less of a test than the other rows. In the forum's near misses, a word of the question is replaced by one
of another question. The written FAQs (tools/faqs) have some thirty rows each, and questions that say in other
words what a row asks, near misses, and some about other things. The written handbooks (tools/handbooks) have
some fifty paragraphs each and seventy questions: fifty are answered by one paragraph, twelve are near misses,
eight are about other things. From the files of the test nothing has learnt, but the networks and the chance
have from other files that were written in the same way, by the same language model.

"""
_FIRSTS = """
The same lists as whoever asks sees them: how often the first passage is right, how often one of the first
five, and the mean of one over the place of the first right one (MRR), of the whole and of meaning alone.

"""
_LEVELS = """
## What makes the first passage likely

AUROC on each dev set of a probability that was learnt from all others, by the signals it is made of; the best
mean is taken. `score` and `quote` are `mini`'s; `words among` and `meaning among` say by how many standard
deviations a passage's words and meaning are above the mean of all passages that were read. Of `{held}`
the questions with an answer are not new to `mini`: when it began, it learnt to rank sentences for them.

"""
_ROWS = """
The same for the first row of an FAQ, with its lead beside each: AUROC on test sets, and on one once more
with near misses, to which each answer is wrong. They are made as those that were learnt from.
[How to](how-to.md#ask-your-own-files) says what the names mean.

"""
_GATE = """
## The gate that comes with demur

It was calibrated on questions held out from all training, to paragraphs of SQuAD's articles and to sections
of pages (SelQA): {counts}. A third of them have no answer in what is asked. `{command}`
makes it. A cell says how many of the questions are answered, and how many of these answers are wrong.

"""
_SHIFT = """
### Where questions are of another kind

The same gates on test sets. Nothing is promised there: this is what happened. Of SQuAD's dev set half of
the questions have no answer, of WikiQA's test set more than half: there more of the answers are wrong.
Some of what is asked there was met before: of selqa/test's {all:,} passages of eight words or more {shared:,}
stand in what calibrated the gates or taught the chance, as selqa/dev is mostly of the same articles; its
questions are others. `tools/overlaps.json` has this for every test set.

"""
_FAQ = """
### The gate for FAQs

Which row of an FAQ asks the same is easier to tell than which sentence holds a fact, so a threshold for
both holds back answers that an FAQ could give. Where the first passage is a row of an FAQ, a gate decides
that was calibrated on FAQs alone, made of a forum's other threads, and on others that were written for
this. The first row has the questions it was calibrated on: of the forum's a sixth have no answer, and a
sixth are near misses; of the written 2 in 9 have none and 1 in 9 is one. A certificate counts those that
tested a threshold; the other tenth made the thresholds that were tested. For a risk without a column here
the gate for text judges. For the others nothing is promised. selqa/test as an FAQ is asked paraphrases of
its questions, which are about everything; a third of them is taken away. covidfaq is an FAQ that nothing
here has learnt from; some of its queries have several fitting answers, of which few are labelled. To a near
miss every answer is wrong: if your customers ask for nearly what the rows say, calibrate on such questions.

"""
_LEFT = """
### What became of a promise on a kind that was left out

Calibrated on two of three kinds of questions, and then asked the third.

"""
_UNLABELLED = """
### A threshold from an FAQ without labels

`demur calibrate --without-labels` promises how often a question that has no answer is answered. Here half
of an FAQ's entries were removed. Asked of the rest, they are all the questions without an answer that there
are, so the true share that a threshold answers is known. From them {draws} samples were drawn, and each
made a gate with 95 % confidence: on at most 5 % of them may the true share be above the promise. Of what
was asked about the removed entries in other words nothing is promised; it is what happened: SelQA's
paraphrases, subjects of SemEval's threads, the queries of covidfaq's users, and questions written with the
FAQs by a language model. `{command}` makes it.

"""


def page() -> str:
    """The page."""
    names = "chance", "gate", "without_labels"
    chance, gate, unlabelled = (json.loads((RESULTS / f"{name}.json").read_text("utf-8")) for name in names)
    sets = gate["sets"]
    own = sets["among those it is calibrated on"]
    counts = ", ".join(f"{row['questions']:,} of {name}" for name, row in own.items())
    return (
        _HEAD.format(chance=chance["command"], faqs=", ".join(chance["FAQs learnt on"]))
        + _parts(chance["sets"])
        + _FIRSTS
        + _firsts(chance["sets"])
        + _LEVELS.format(held=HELD)
        + _choices(list(chance["learnt on"]), chance["AUROC on each dev set of what the others teach"])
        + _ROWS
        + _of_faqs(chance["AUROC of FAQs"])
        + _GATE.format(command=gate["command"], counts=counts)
        + _risks(own)
        + _SHIFT.format(all=_passages("all"), shared=_passages(list(overlaps.CALIBRATED)[-1]))
        + _risks(sets["on test sets"])
        + _FAQ
        + _risks(sets["FAQs, by their own gate"])
        + _LEFT
        + _risks(sets["calibrated without this kind"])
        + _UNLABELLED.format(draws=unlabelled["draws"], command=unlabelled["command"])
        + _promises(unlabelled)
    )


def _passages(of: str) -> int:
    return overlaps.count(of, "selqa/test", "passages")


def _parts(sets: dict[str, Any]) -> str:
    heads = "dataset", "questions", "words", "meaning", "mini", "whole", "over the best part", "AUROC"
    lines = [f"| {' | '.join(heads)} |", "|---|" + "---|" * 7]
    for name, row in sets.items():
        parts = [row[part]["MAP"] for part in ("words", "meaning", "mini", row["used"])]
        cells = [f"{value:.3f}" for value in parts]
        cells += [f"{row['MAP over the best part']:+.3f}", f"{row['AUROC']:.3f}"]
        lines.append(f"| {name} | {answered(name, row)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def answered(name: str, row: dict[str, Any]) -> int:
    """How many of a set's questions have a right passage, which is what its measures are of."""
    if not is_written(name):
        return int(row["questions"])
    return sum(pool.positives > 0 for pool, _ in written(name))


def _firsts(sets: dict[str, Any]) -> str:
    """A row for each set, with the whole beside meaning alone."""
    measures = {"first right": "P@1", "in the first five": "Success@5", "MRR": "RR"}
    heads = [f"{head}{alone}" for head in measures for alone in ("", ", meaning alone")]
    lines = [f"| dataset | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    for name, row in sets.items():
        cells = [f"{row[of][each]:.3f}" for each in measures.values() for of in (row["used"], "meaning")]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _choices(names: list[str], tries: dict[str, list[float]]) -> str:
    lines = [f"| signals | {' | '.join(names)} | mean |", "|---|" + "---|" * (len(names) + 1)]
    best = max(tries.values(), key=sum)
    for signals, values in tries.items():
        mean = f"{sum(values) / len(values):.3f}"
        cells = [*(f"{value:.3f}" for value in values), f"**{mean}**" if values == best else mean]
        lines.append(f"| {signals} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _of_faqs(tries: dict[str, dict[str, float]]) -> str:
    names = list(next(iter(tries.values())))
    lines = [f"| signals | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    lines += [
        f"| {signals} | {' | '.join(f'{row[name]:.3f}' for name in names)} |"
        for signals, row in tries.items()
    ]
    return "\n".join(lines) + "\n"


def _risks(sets: dict[str, Any]) -> str:
    """A row for each set, a column for each risk that any of them has a gate for."""
    known = {key for row in sets.values() for key in row if key[0].isdigit()}
    risks = sorted(known, key=float)
    heads = " | ".join(f"at most {100 * float(risk):g} % wrong" for risk in risks)
    lines = [f"| questions | asked | first right | {heads} |", "|---|" + "---|" * (2 + len(risks))]
    for name, row in sets.items():
        cells = []
        for risk in risks:
            if risk not in row:
                cells.append("no gate")
                continue
            answered, wrong = row[risk]["answered"], row[risk]["wrong"]
            share = f" ({100 * wrong / answered:.0f} %)" if answered else ""
            cells.append(f"{answered} answered, {wrong} wrong{share}")
        lines.append(f"| {name} | {row['questions']} | {row['first right']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _promises(found: dict[str, Any]) -> str:
    """A row for each FAQ and risk."""
    heads = ["FAQ", "entries removed", "at most answered", "gates", "promise broken", "answered, mean"]
    heads += ["asked in other words", "answered, mean", "above the promise"]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "---|" * (len(heads) - 1)]
    for name, row in found["sets"].items():
        for risk in (key for key in row if key[0].isdigit()):
            one = row[risk]
            share = {
                key: "–" if one[key] is None else f"{one[key]:.3f}"
                for key in ("answered", "answered to people")
            }
            cells = [name, row["removed"], f"{float(risk):.0%}".replace("%", " %"), one["gates"]]
            cells += [one["broken"], share["answered"], row["asked by people"]]
            cells += [share["answered to people"], one["broken for people"]]
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"
