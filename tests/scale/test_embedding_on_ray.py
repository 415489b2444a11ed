"""Vectors of a knowledge base made by two workers of Ray: the same as here, and a kill loses none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import demur
from demur.asking.meaning.finding import maker
from demur.cli.options.engines import cluster
from demur.embedders.base import Vectors
from demur.errors import UsageError
from demur.kb.folder import KnowledgeBase
from kb.base_toys import Hashing, write
from kb.places import Place, place

__all__ = ["place"]  # a fixture
RAY = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed; pip install 'demur[ray]'"),
]
HASTY = """
from demur.cli.main import main
from demur.kb.lance import lease, meanings

lease.BEAT, lease.PATIENCE = 0.3, 2.0
meanings._MANY = 512  # vectors that are kept together on an object store
main()
"""
WORDS = "drill saw ladder tent rope lamp bench clock"


class Many(Hashing):
    """What reads two parts ahead, as workers do."""

    def embed_many(self, parts: Iterator[Sequence[str]]) -> Iterator[Vectors]:
        waiting: list[Vectors] = []
        for part in parts:
            waiting.append(self.embed(part))
            if len(waiting) > 2:
                yield waiting.pop(0)
        yield from waiting


def texts(count: int) -> str:
    words = WORDS.split()
    return "\n\n".join(f"The {words[n % 8]} of house {n} is lent for {n % 13} days." for n in range(count))


def test_parts_that_are_read_ahead_go_to_their_own_passages(place: Place, tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": texts(600), "f.csv": "question,text\nHow long?,One week.\nWhen?,On Mondays.\n"})
    both = [KnowledgeBase(place(name)) for name in ("here.kb", "many.kb")]
    for kb, embedder in zip(both, (Hashing(), Many()), strict=True):
        kb.add([tmp_path / "a.txt", tmp_path / "f.csv"])
        assert kb.embed(embedder) == 602 == kb.embedded
    asked = Hashing().embed(["the drill of house 17"])[0]
    one, other = (kb.by_meaning(asked, 50) for kb in both)
    assert one[0].tolist() == other[0].tolist() and one[1].tolist() == other[1].tolist()


def test_an_engine_that_is_none_is_one_line() -> None:
    with pytest.raises(UsageError, match="there is no engine 'spark'; write --engine local or --engine ray"):
        cluster("spark", None, None)
    with pytest.raises(UsageError, match="--workers is for --engine ray; leave it out"):
        cluster("local", None, 2)


class TestOnRay:
    pytestmark = RAY

    def test_the_vectors_are_those_of_one_process_and_a_kill_loses_none(
        self, place: Place, tmp_path: Path
    ) -> None:
        bases = place("here.kb"), place("ray.kb")
        write(tmp_path, {"a.txt": texts(1500)})
        both = [KnowledgeBase(base) for base in bases]
        for kb in both:
            kb.add(tmp_path / "a.txt")
        both[0].embed(maker())
        command = [sys.executable, "-c", HASTY, "kb", "update", str(bases[1]), "--engine", "ray"]
        paths = [str(Path(demur.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        first = subprocess.Popen([*command, "--workers", "2"], env=environment)
        while first.poll() is None and both[1].embedded < 256:
            time.sleep(0.2)
            both[1].refresh()
        first.send_signal(signal.SIGKILL)
        first.wait()
        both[1].refresh()
        kept = both[1].embedded
        assert 256 <= kept < 1500 and kept % 128 == 0
        done = subprocess.run([*command, "--workers", "2"], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        both[1].refresh()
        assert both[1].embedded == both[0].embedded == 1500
        for asked in maker().embed(["how long is a tent lent?", "house 17"]):
            (places, cosines), (theirs, told) = (kb.by_meaning(asked, 100) for kb in both)
            assert places.tolist() == theirs.tolist()
            np.testing.assert_array_equal(cosines, told)
