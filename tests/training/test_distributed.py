"""Two processes learn what one learns from the same steps."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from demur.errors import UsageError
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder as Ranker
from demur.training.loop.distributed import Processes, processes
from demur.training.objectives.base import Plain
from demur.training.objectives.robust import GroupDRO
from training.cross_encoders.test_cross_encoder import POOLS, quick

SCRIPT = """
import sys
from training.test_distributed import learnt
open(sys.argv[1], "w").write(learnt(accumulate=0))
"""


def learnt(accumulate: int) -> str:
    """Scores, after three epochs without dropout, of which the last step of each is a single one."""
    made = Ranker.fresh

    def still(self: Ranker) -> object:
        network, tokenizer = made(self)
        for part in network.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0
        return network, tokenizer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ranker, "fresh", still)
        ranker = quick(tokens=100, epochs=3, accumulate=accumulate).train(POOLS)
    return " ".join(f"{score:.4f}" for score in ranker.score("quest1?", ["cape", "may 3", ""]))


@pytest.mark.slow
def test_two_processes_are_one_with_twice_the_steps(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    own = str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, own))
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", SCRIPT, str(tmp_path / str(rank))],
            env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(2)
    ]
    assert [process.wait(120) for process in running] == [0, 0]
    first, second = ((tmp_path / str(rank)).read_text() for rank in range(2))
    assert first == second
    alone = [float(number) for number in learnt(accumulate=2).split()]
    assert [float(number) for number in first.split()] == pytest.approx(alone, abs=2e-3)
    assert learnt(accumulate=0).split() != learnt(accumulate=2).split()


def test_what_remembers_learns_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert processes(Plain(), "cpu") == Processes()
    assert Processes().add([], 2.5) == 2.5
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UsageError, match="one process only"):
        processes(GroupDRO(Plain().loss, torch.tensor([0, 1])), "cpu")
