"""Makes the gates that come with demur for questions asked by meaning (`python -m tools.make_ask_gate`).

They hold for whatever files are asked, as far as questions are like those that they are calibrated on. No
network has learnt from these, nor has the chance (`tools.make_chance`). A third of them have no answer in
what is asked, as in SQuAD 2.0. What the gates do to questions of other kinds is measured on test sets, with a
table in `results/asking/gate.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from demur import toml
from demur.asking.gates.calibrating import judged_pools
from demur.asking.library import Library
from demur.asking.meaning.ranker import ByMeaning, by_meaning
from demur.asking.packaged import MEANING_GATES, ROW_GATES
from demur.asking.searching import AnyPassages
from demur.data import pools
from demur.data.subsets import rest
from demur.files import replacing
from demur.risk.gates.gate import Gate
from demur.risk.gates.several import calibrate_each
from demur.training.readers.mini_confidence import among_others
from demur.training.recipes.stages import Recipe
from demur.types import Pool
from tools import meaning_card, written_pools
from tools.cards import RISKS, SURE, USUAL
from tools.chance_data import ALL, AS_FAQ, LEARN, MISSED, as_faq, beside, drawn, rows_of
from tools.chance_data import FAQS as FAQS_TESTED
from tools.chance_misses import near_misses
from tools.make_encoder import RECIPES as ENCODERS
from tools.make_mini import HELD, RECIPES, held_out
from tools.written import NONE, WRITTEN_BOOKS, WRITTEN_FAQS, written

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "results" / "asking" / "gate.json"
QUESTIONS = 4000  # of SQuAD, as for mini: half of them taught its confidence, and say nothing here
FAQS = f"semeval2016/train-part2{AS_FAQ}, odd", f"semeval2016/dev{AS_FAQ}"
"""Threads that become FAQs: those that taught the chance nothing."""
DATA = "squad/2.0/train held out", "selqa/dev", f"{WRITTEN_BOOKS}gate"
KINDS = ("squad", "selqa", "handbooks", "faq")
FEWER = 3  # of every so many of SQuAD's questions one is asked, so that there are about as many of each kind
THIRD, SIXTH = 3, 6  # of every so many questions one has no answer
NEAR = 4  # of every so many near misses that were written one is taken, so that a third has no answer
TEST = {
    "squad/2.0/dev": 300,
    "wikiqa/test": 300,
    "selqa/test": 200,
    "trecqa/test": 100,
    "semeval2016/test": 200,
    "antique/test": 60,
    "covidfaq/test": 300,
    "fiqa/test": 60,
    "example/questions": 40,
}
"""So many questions are drawn of each; also those that have no right answer there."""


def main() -> None:
    """Calibrate, and measure elsewhere."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    written_pools.make()  # `held_out` looks at all that the networks learnt from
    of_faqs = (pool for name in FAQS for pool in _of_faq(name))
    proof = {
        kind: list(found)
        for kind, found in zip(
            KINDS, (_squad(), _selqa(), _written(WRITTEN_BOOKS, "gate"), of_faqs), strict=True
        )
    }
    _say(f"calibrated on { ({kind: len(found) for kind, found in proof.items()}) }")
    of_text = {kind: proof[kind] for kind in KINDS[:-1]}
    gates = _gates([pool for found in of_text.values() for pool in found], *DATA)
    proof_of_rows = [pool for name in FAQS for pool in _with_near_misses(name)]
    proof_of_rows += [
        *_written(WRITTEN_FAQS, "gate", "paraphrase"),
        *_written(WRITTEN_FAQS, "gate", "near")[::NEAR],
        *_written(WRITTEN_FAQS, "gate", "far"),
    ]
    of_rows = _gates(proof_of_rows, *FAQS, MISSED, f"{WRITTEN_FAQS}gate")
    for made, folder in ((gates, MEANING_GATES), (of_rows, ROW_GATES)):
        folder.mkdir(parents=True, exist_ok=True)
        made.save(folder)
    tested = {name: list(_asked(drawn(name, count), name)) for name, count in TEST.items()}
    for name in (f"semeval2016/test{AS_FAQ}", f"selqa/test{AS_FAQ}"):
        tested[name] = list(_of_faq(name))
    tested[f"{WRITTEN_BOOKS}test"] = _written(WRITTEN_BOOKS, "test")
    tested |= {f"{WRITTEN_BOOKS}test, {kind}": _written(WRITTEN_BOOKS, "test", kind) for kind in NONE}
    rows = {"among those it is calibrated on": _rows(gates.gates, of_text)}
    rows["on test sets"] = _rows(
        gates.gates, {name: found for name, found in tested.items() if name not in FAQS_TESTED}
    )
    of_faq = {"what it is calibrated on": proof_of_rows}
    of_faq |= {name: tested[name] for name in FAQS_TESTED if name in tested}
    of_faq |= {f"{name}, {MISSED}": list(_missed(name)) for name in FAQS_TESTED if AS_FAQ in name}
    of_faq |= {
        f"{WRITTEN_FAQS}test, {kind}": _written(WRITTEN_FAQS, "test", kind) for kind in ("paraphrase", *NONE)
    }
    rows["FAQs, by their own gate"] = _rows(of_rows.gates, of_faq)
    others = {kind: [pool for name in KINDS if name != kind for pool in proof[name]] for kind in KINDS}
    rows["calibrated without this kind"] = {
        kind: _rows(_gates(others[kind], "other kinds").gates, {kind: proof[kind]})[kind] for kind in KINDS
    }
    facts = {"command": "python -m tools.make_ask_gate", "ranker": _anywhere().fingerprint, "sets": rows}
    with replacing(PLACE) as out:
        out.write(json.dumps(facts, indent=1) + "\n")
    (MEANING_GATES / "README.md").write_text(meaning_card.text(), "utf-8")


def _anywhere() -> ByMeaning:
    """What ranks, whatever the passages are."""
    return replace(by_meaning(Library([])), library=AnyPassages())  # type: ignore[arg-type]


def _gates(proof: Sequence[Pool], *data: str) -> Any:
    """The gates that are possible on these judged questions, the usual one first."""
    risks = sorted(RISKS, key=lambda risk: (risk < USUAL, risk))
    found = calibrate_each(_anywhere(), proof, risks, SURE, qualifier="top", data=" + ".join(data))
    for gate in found.gates:
        _say(f"{gate.promise} {gate.certificate.accepted:,} of {gate.certificate.questions:,} answered")
    return found


def _rows(gates: Iterable[Gate], sets: dict[str, list[Pool]]) -> dict[str, Any]:
    """For each set and risk how many are answered, and how many of these wrongly."""
    rows: dict[str, Any] = {}
    for name, found in sets.items():
        rows[name] = {"questions": len(found)}
        for gate in gates:
            answers, _ = gate.answers(_anywhere(), found)
            given = answers.answered(gate.threshold)
            right = np.array([bool(pool.positives) for pool in found])
            first = sum(bool(pool.candidates and pool.candidates[0].label) for pool in found)
            wrong = int((given & ~answers.correct).sum())
            rows[name] |= {"right one found": int(right.sum()), "first right": first}
            rows[name][f"{gate.certificate.risk:g}"] = {"answered": int(given.sum()), "wrong": wrong}
        _say(f"{name} {json.dumps(rows[name])}")
    return rows


def _asked(some: Iterable[Pool], name: str) -> Iterator[Pool]:
    """What is found for each question among its own candidates, judged."""
    for pool, library in beside(some, name):
        yield from judged_pools(by_meaning(library), [pool])


def _squad() -> Iterator[Pool]:
    """Questions held out, among all passages of their articles."""
    _, proof = held_out([toml.read_toml(Recipe, path) for path in (*RECIPES, *ENCODERS)], QUESTIONS)
    seen = {pool.id for name in HELD for pool in drawn(name, LEARN.get(name, 0))}
    chosen = {pool.id for pool in proof if "answers" in pool.extra} - seen
    every = among_others([pool for name in HELD for pool in pools(name)], others=ALL)
    asked = [pool for pool in every if pool.id in chosen]
    yield from _asked(asked[::FEWER], "squad")


def _selqa() -> Iterator[Pool]:
    """Questions about one section of a page; from every third section the right sentences are removed."""
    for number, pool in enumerate(rest(pools("selqa/dev"), LEARN["selqa/dev"])):
        left = tuple(each for each in pool.candidates if number % THIRD or not each.label)
        yield from _asked([replace(pool, candidates=left)] if left else [], "selqa/dev")


def _of_faq(name: str) -> Iterator[Pool]:
    """What is asked of an FAQ, judged; a third of it has no answer there."""
    for pool, library in as_faq(rows_of(name), away=THIRD):
        yield from judged_pools(by_meaning(library), [pool])


def _with_near_misses(name: str) -> Iterator[Pool]:
    """What is asked of an FAQ, judged: a sixth has no answer there, and a sixth is a near miss."""
    missed = {pool.id: (pool, library) for pool, library in near_misses(as_faq(rows_of(name)))}
    for number, asked in enumerate(as_faq(rows_of(name), away=SIXTH)):
        pool, library = missed.get(asked[0].id, asked) if number % SIXTH == THIRD else asked
        yield from judged_pools(by_meaning(library), [pool])


def _missed(name: str) -> Iterator[Pool]:
    """Near misses of what is asked of an FAQ, judged: no answer to them is right."""
    for pool, library in near_misses(as_faq(rows_of(name))):
        yield from judged_pools(by_meaning(library), [pool])


def _written(of: str, part: str, kind: str = "") -> list[Pool]:
    """What is asked of FAQs or handbooks that were written for this, judged: all, or one kind."""
    some = [each for each in written(f"{of}{part}") if kind in ("", each[0].extra["kind"])]
    return [judged for pool, library in some for judged in judged_pools(by_meaning(library), [pool])]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
