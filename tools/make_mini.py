"""Makes the small model that comes with demur (`make mini`): from its recipes to its card.

Each recipe goes on where the one before ended, and the last network that is there is where this begins, if
its recipe has not changed since: `tools.unpack_mini` puts the weights of a packaged mini where one is looked
for, which saves hours. All that is needed is looked for before the first stage.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from demur import toml
from demur.data import formats, pools
from demur.errors import NoThreshold
from demur.export.export import export
from demur.export.mini import Alike, tune_null
from demur.rankers import open_model
from demur.reading.readers.mini import Mini
from demur.risk.gates.several import Gates, calibrate_each
from demur.risk.qualifiers.base import qualifier as resolve_qualifier
from demur.text import tokenize
from demur.training.readers.mini_confidence import among_others, train_confidence
from demur.training.recipes.make_model import make
from demur.training.recipes.stages import Recipe, pools_of
from demur.types import Pool
from tools import inputs, mini_card, written_pools
from tools.cards import RISKS, SURE, USUAL
from tools.written import WRITTEN_BOOKS

ROOT = Path(__file__).resolve().parents[1]
RECIPES = tuple(ROOT / "recipes" / f"{name}.toml" for name in ("mini", "mini-2", "mini-handbooks"))
NETWORKS = tuple(ROOT / "build" / name for name in ("mini-network", "mini-2", "mini-handbooks"))
HELD = ("squad/2.0/train/held", "squad/2.0/train/rest")
"""SQuAD's questions: of these, the ones that no stage of the recipes names."""
DEVS = ("wikiqa/dev", "trecqa/dev", "semeval2016/dev", "selqa/dev")
"""Labelled pools that no stage of the recipes sees: half teaches the confidence, half makes the gate."""
SCALES = {"squad/2.0/train/rest/sample-200": 200, "wikiqa/train": 30, "semeval2016/train-part2": 30}
"""Texts that the network has learnt from, by which the numbers of its bytes are scaled."""
BOOKS = f"{WRITTEN_BOOKS}chance"
"""All of these teach the confidence, and the network none."""
QUESTIONS = 4000  # of SQuAD, held out


def main() -> None:
    """Make it, from wherever it had come to."""
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("-o", "--output", type=Path, default=ROOT / "src" / "demur" / "models" / "mini")
    said.add_argument("--questions", type=int, default=QUESTIONS, help="of SQuAD, to teach and to gate")
    said.add_argument("--measure", type=int, default=0, help="questions of each test set; 0 is all")
    asked = said.parse_args()
    recipes = [toml.read_toml(Recipe, path) for path in RECIPES]
    to_run = inputs.recipes_to_run(RECIPES, NETWORKS, recipes)
    written_pools.make()
    tests = *mini_card.RANKED, *mini_card.ASKED, mini_card.READ
    inputs.check(recipes, [recipe for recipe, _ in to_run], [*HELD, *DEVS, *tests])
    for recipe, folder in to_run:
        make(recipe, folder, lambda facts: _say(json.dumps(facts)))
    beside = asked.output.with_name(f".{asked.output.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    try:
        _scales(beside / "scales.jsonl")
        network = open_model(NETWORKS[-1])
        with contextlib.chdir(beside):  # so that the model says of no place on this machine
            made = export(network, Path("mini"), "int8", "scales.jsonl")
        _say(f"exported: {made.agreement}")
        learnt_from, proof = held_out(recipes, asked.questions)
        asked_of_one = [
            replace(pool, candidates=pool.candidates[:1]) for pool in learnt_from if "answers" in pool.extra
        ]
        _say(f"no answer is scored {tune_null(beside / 'mini', asked_of_one):+} too high")
        facts = {"data": [*HELD, *DEVS, BOOKS], "half": 1, "seen by the network": 0}
        train_confidence(beside / "mini", [*learnt_from, *written_pools.asked("chance")], facts)
        mini = open_model(beside / "mini")
        assert isinstance(mini, Mini)
        shutil.rmtree(asked.output, ignore_errors=True)
        asked.output.parent.mkdir(parents=True, exist_ok=True)
        (beside / "mini").replace(asked.output)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    mini = open_model(asked.output)
    assert isinstance(mini, Mini)
    packaged = Mini() if asked.output == mini_card.PACKAGED else mini
    gates = gated(packaged, proof)
    if gates is not None:
        gates.save(asked.output)
    near = made.agreement
    assert isinstance(near, Alike)
    made_by = {path.name: folder for path, folder in zip(RECIPES, NETWORKS, strict=True)}
    text = mini_card.text(packaged, gates, mini_card.how_made(made_by, near), asked.measure, _say)
    (asked.output / "README.md").write_text(text, "utf-8")


def held_out(recipes: Sequence[Recipe], questions: int) -> tuple[list[Pool], list[Pool]]:
    """Pools that no stage of the recipes has a question of, in two halves: to teach by, and to gate by."""
    stages = (
        pools_of(stage.data, stage.questions, recipe.seed) for recipe in recipes for stage in recipe.stage
    )
    seen = {_words(pool) for stage in stages for pool in stage}
    fresh = [pool for name in HELD for pool in pools(name) if _words(pool) not in seen]
    answered = [pool for pool in fresh if pool.positives]
    others = [pool for pool in fresh if not pool.positives]
    parts = (answered, questions * 2 // 3), (others, questions // 3)  # as SQuAD 2.0 has it
    chosen = {pool.id for some, count in parts for pool in sorted(some, key=_lot)[:count]}
    _say(f"{len(fresh):,} questions of {' and '.join(HELD)} are new to the network; {len(chosen):,} taken")
    found = [pool for pool in among_others(fresh) if pool.id in chosen]  # both kinds among other passages
    for name in DEVS:
        found += [pool for pool in pools(name) if len(pool) and _words(pool) not in seen]
    halves: tuple[list[Pool], list[Pool]] = [], []
    for pool in found:
        halves[_lot(pool) % 2].append(pool)
    return halves


def gated(mini: Mini, proof: Sequence[Pool]) -> Gates | None:
    """Gates for all risks that can be promised, the usual one first; None if none can."""
    risks = sorted(RISKS, key=lambda risk: (risk < USUAL, risk))
    how, data = resolve_qualifier("mini", folder=mini.folder), " + ".join([*HELD, *DEVS])
    try:
        found = calibrate_each(mini, proof, risks, SURE, qualifier=how, data=data)
    except NoThreshold as none:
        _say(str(none))
        return None
    for gate in found.gates:
        certificate = gate.certificate
        _say(f"{gate.promise} {certificate.accepted:,} of {certificate.questions:,} answered")
    return found


def _scales(path: Path) -> None:
    texts = [pool for name, count in SCALES.items() for pool in sorted(pools_of(name), key=_lot)[:count]]
    formats.write_pools(path, sorted(texts, key=_lot))


def _words(pool: Pool) -> str:
    return " ".join(tokenize(pool.question))


def _lot(pool: Pool) -> int:
    """A number of a pool's own, that depends on nothing else."""
    return int.from_bytes(hashlib.sha256(f"mini {pool.id} {pool.question}".encode()).digest()[:6])


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


__all__ = ["gated", "held_out", "main"]

if __name__ == "__main__":
    main()
