"""The parts that the suite is run in hold together."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tools import mutate
from tools.faults import faults

from emulated import looks

ROOT = Path(__file__).parents[2]


def test_what_the_core_leaves_out_is_there_and_in_order() -> None:
    lines = (ROOT / "tests" / "extras.txt").read_text("utf-8").splitlines()
    assert lines == sorted(set(lines))
    assert [line for line in lines if not (ROOT / "tests" / line).exists()] == []


def test_covidfaq_is_never_trained_on() -> None:
    recipes = [*(ROOT / "experiments").rglob("*.toml"), *(ROOT / "recipes").glob("*.toml")]
    assert recipes
    for path in recipes:
        said = tomllib.loads(path.read_text("utf-8"))
        learnt = [each.get("train", "") for each in said.get("column", [])]
        for part in (said, *said.get("row", []), *said.get("model", [])):
            learnt += [stage.get("data", "") for stage in part.get("stage", [])]
        learnt += [each for vectors in said.get("vectors", []) for each in vectors.get("data", [])]
        assert not any("covidfaq" in each for each in learnt), path


def test_faults_said_to_make_no_difference_are_there() -> None:
    modules = {module for module, _, _ in mutate.explained()}
    there = {each.known_as for module in modules for each in faults(module, mutate.source_of(ROOT, module))}
    assert mutate.explained() - there == set()


def test_what_faults_came_to_is_kept_by_room(tmp_path: Path) -> None:
    path = tmp_path / "mutants.json"
    mutate.keep("attic", {"drawn": 8, "missed": ["a.py:1: 1  ->  2"], "commit": "abc"}, path)
    for missed in (["b.py:1: 1  ->  2"] * 2, []):
        mutate.keep("cellar", {"drawn": 4, "missed": missed, "commit": "def"}, path)
    assert mutate.table(path).splitlines()[2:] == [
        "| attic | 8 | 7 (88%) | abc |",
        "| cellar | 4 | 4 (100%) | def |",
    ]


@pytest.mark.emulated
@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="qemu-x86_64 is missing; install qemu-user")
@pytest.mark.parametrize("processor", ["Nehalem", "Haswell"])
def test_words_are_compared_alike_on_lesser_processors(processor: str) -> None:
    code = """
import json, demur
from demur.data import pools
some = list(pools("example/questions"))[:5]
print(json.dumps([float(x) for scores in demur.ranker("bm25").score_pools(some) for x in scores]))
"""
    here = [sys.executable, "-c", code]
    ours, theirs = (
        json.loads(subprocess.run(command, capture_output=True, check=True, env=looks.environment()).stdout)
        for command in (here, ["qemu-x86_64", "-cpu", processor, *here])
    )
    assert theirs == pytest.approx(ours, abs=1e-9) and len(set(ours)) > 5
