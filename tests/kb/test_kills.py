"""A kill at any moment loses nothing that was acknowledged, and leaves nothing twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from demur.errors import DataError
from demur.kb.folder import KnowledgeBase
from kb.base_toys import Hashing, found, held, write
from kb.killed import text
from kb.places import Place, place

__all__ = ["place"]  # a fixture

TESTS = Path(__file__).parents[1]
QUESTIONS = "which keeper guards place 1?", "story of towers", "the same door", "edition 7"


def killed(folder: Path, base: str, files: dict[str, int], draw: random.Random, outside: bool) -> list[str]:
    """What a process said that changed the base until it was killed."""
    calls = 0 if outside else draw.randrange(1, 300)
    words = [str(folder), base, json.dumps(files), str(draw.randrange(2**30)), str(calls)]
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-m", "kb.killed", *words],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
    )
    assert process.stdout is not None
    said: list[str] = []
    if outside:
        wanted = draw.randrange(1, 12)
        for line in process.stdout:
            said.append(line.strip())
            if len(said) == wanted:
                try:
                    process.wait(draw.random() / 5)
                except subprocess.TimeoutExpired:
                    process.kill()
                break
    said += process.stdout.read().split("\n")
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL
    return [line for line in said if line]


def survived(
    folder: Path, place: Place, before: dict[str, int], said: list[str], turn: int
) -> dict[str, int]:
    """The files in the base, which are checked against what was said of them."""
    after = before
    for line in said:
        if line == "done":
            before = after
        else:
            after = json.loads(line)
    kb = KnowledgeBase(place("base.kb"))
    try:
        kb.refresh()
    except DataError as error:  # killed before there was a base
        assert "done" not in said and ("no knowledge base" in str(error) or "is empty" in str(error))
        return {}
    kb.remove([])  # waits for what a database server still does for who was killed
    there = held(kb)
    now: dict[str, int] = {}
    for name in {*before, *after, *there}:
        versions = {state[name] for state in (before, after) if name in state}
        right = [each for each in versions if there.get(name) == text(name, each).strip().split("\n\n")]
        assert right or (name not in there and not (name in before and name in after)), (name, before, after)
        if right:
            now[name] = right[0]
    kb.embed(Hashing())
    fresh_folder = folder / f"fresh{turn}"
    write(fresh_folder / "docs", {name: text(name, version) for name, version in now.items()})
    fresh = KnowledgeBase(place(f"fresh{turn}.kb"))
    for name in sorted(now):
        fresh.add(fresh_folder / "docs" / name)
    if now:
        fresh.embed(Hashing())
        assert (len(kb), kb.embedded, kb.fingerprint) == (len(fresh), fresh.embedded, fresh.fingerprint)
        for question in QUESTIONS:
            assert found(kb, question) == found(fresh, question)
            texts = [searched for searched, _ in found(kb, question)]
            assert len(texts) <= 2 * len(set(texts))  # once by words, once by meaning
        fresh.close()
    else:
        assert len(kb) == 0
    kb.close()
    return now


def kill(folder: Path, place: Place, turns: int, seed: int) -> None:
    files: dict[str, int] = {}
    draw = random.Random(seed)
    for turn in range(turns):
        said = killed(folder, str(place("base.kb")), files, draw, outside=turn % 2 == 1)
        files = survived(folder, place, files, said, turn)
        write(folder / "docs", {name: text(name, version) for name, version in files.items()})


def test_ten_kills(tmp_path: Path, place: Place) -> None:
    kill(tmp_path, place, 10, seed=1)


@pytest.mark.slow
def test_a_hundred_kills(tmp_path: Path) -> None:
    kill(tmp_path, lambda name: tmp_path / name, 100, seed=2)
