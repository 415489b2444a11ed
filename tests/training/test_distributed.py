"""Two processes learn what one learns from the same steps, also after a kill."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from demur.errors import UsageError
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder as Ranker
from demur.training.loop import fitting
from demur.training.loop.distributed import Processes, processes
from demur.training.objectives.base import Plain
from demur.training.objectives.robust import GroupDRO
from training.cross_encoders.test_cross_encoder import POOLS, quick
from training.test_loop import STEPS, trained

SCRIPT = """
import sys
from pathlib import Path
from training.test_distributed import learnt
out, checkpoints, killed, still = sys.argv[1:]
Path(out).write_text(learnt(0, Path(checkpoints), int(killed), still == "still"))
"""
EPOCHS = 3


def learnt(accumulate: int, checkpoints: Path | None = None, killed: int = 0, still: bool = True) -> str:
    """Scores after three epochs, of which the last step of each is a single one; or it dies in an epoch."""
    made = Ranker.fresh

    def without_dropout(self: Ranker) -> object:
        network, tokenizer = made(self)
        for part in network.modules():
            if isinstance(part, torch.nn.Dropout) and still:
                part.p = 0.0
        return network, tokenizer

    def said(facts: dict[str, Any]) -> None:
        if killed and facts.get("epoch") == killed:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ranker, "fresh", without_dropout)
        by = quick(tokens=100, epochs=EPOCHS, accumulate=accumulate, checkpoint=1e-9, early="MAP")
        ranker = by.train(POOLS, POOLS[:4], checkpoints=checkpoints, report=said)
    return " ".join(f"{score:.4f}" for score in ranker.score("quest1?", ["cape", "may 3", ""]))


def two(folder: Path, name: str, killed: int = 0, how: str = "still") -> list[str]:
    """What two processes have learnt, that of each; nothing where they died."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    own = str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, own))
    places = [folder / f"{name}{rank}" for rank in range(2)]
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", SCRIPT, str(place), str(folder / name), str(killed), how],
            env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stderr=subprocess.DEVNULL if killed else None,
        )
        for rank, place in enumerate(places)
    ]
    codes = [process.wait(120) for process in running]
    assert [code == 0 for code in codes] == [not killed] * 2, codes
    return [place.read_text() for place in places if place.exists()]


def numbers(said: str) -> list[float]:
    return [float(number) for number in said.split()]


@pytest.mark.slow
def test_two_processes_are_one_with_twice_the_steps(tmp_path: Path) -> None:
    first, second = two(tmp_path, "still")
    assert first == second
    assert numbers(first) == pytest.approx(numbers(learnt(accumulate=2)), abs=2e-3)
    assert learnt(accumulate=0).split() != learnt(accumulate=2).split()


@pytest.mark.slow
def test_two_processes_that_are_killed_end_like_two_that_were_not(tmp_path: Path) -> None:
    whole = two(tmp_path, "whole", how="dropout")
    assert two(tmp_path, "killed", killed=2, how="dropout") == []
    assert [file.stem[-2:] for file in (tmp_path / "killed").iterdir()] == ["-2"]
    assert two(tmp_path, "killed", how="dropout") == whole
    assert whole[0] == whole[1] != two(tmp_path, "still")[0]


def test_each_process_draws_its_own_numbers_and_the_same_after_a_kill() -> None:
    drawn = []
    for rank, number in ((0, 5), (1, 5), (0, 6), (0, 5)):
        Processes(rank, 2, seed=3).draw(number)
        drawn.append(torch.rand(3).tolist())
    assert drawn[3] == drawn[0]
    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]
    before = torch.get_rng_state()
    Processes().draw(5)
    assert torch.equal(torch.get_rng_state(), before), "alone, nothing is drawn anew"


def test_each_change_of_the_loop_begins_its_random_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    class Noting(Processes):
        def draw(self, number: int) -> None:
            begun.append(number)

    monkeypatch.setattr(fitting, "processes", lambda objective, device: Noting())
    trained(None)
    assert begun == list(range(len(STEPS)))


def test_what_remembers_learns_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert processes(Plain(), "cpu") == Processes()
    assert Processes().add([], 2.5) == Processes().first(2.5, torch.device("cpu")) == 2.5
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UsageError, match="one process only"):
        processes(GroupDRO(Plain().loss, torch.tensor([0, 1])), "cpu")
