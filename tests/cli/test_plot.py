from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demur
from cli.calling import invoke
from demur.cli.evaluation.plot import plot
from demur.data import formats
from demur.errors import DataError, UnknownName, UsageError
from demur.types import Pool

pytest.importorskip("matplotlib")


def pools(number: int, prefix: str = "q") -> list[Pool]:
    """Questions whose right answers share one to four words with them, and wrong ones at most two."""
    rng = np.random.default_rng(3)
    words = ["saw", "drill", "lathe", "plane"]
    found = []
    for place in range(number):
        right, wrong = (" ".join(words[: rng.integers(1, most)]) for most in (5, 3))
        label = int(rng.random() < 0.8)
        found.append(Pool.of(" ".join(words), [wrong, right], [0, label], f"{prefix}{place}"))
    return found


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    formats.write_pools("pools.jsonl", pools(120))
    return Path("pools.jsonl")


def call(*arguments: object) -> Any:
    return invoke(plot, *arguments)


@pytest.mark.parametrize("show", ["curve", "histogram", "reliability"])
def test_pictures_are_written_and_nothing_is_printed(data: Path, show: str) -> None:
    done = call(data, "-o", "out.svg", "--show", show, "--ranker", "overlap")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "picture written to out.svg\n"
    assert Path("out.svg").read_text("utf-8").startswith("<?xml")


def test_curves_of_several_rankers_and_qualifiers(data: Path) -> None:
    words = ("--ranker", "bm25", "--ranker", "overlap", "--qualifier", "margin", "--qualifier", "top")
    assert call(data, "-o", "out.png", *words).exit_code == 0
    assert call(data, "-o", "out.png", *words, "--show", "reliability").exit_code == 0
    with pytest.raises(UsageError, match="one ranker and one qualifier"):
        call(data, "-o", "out.png", *words, "--show", "histogram")


def test_a_gate_is_marked_on_questions_it_has_not_seen(data: Path) -> None:
    gate = demur.calibrate("overlap", pools(300, "other"), 0.5)
    gate.save("gate.json")
    for show in ("curve", "histogram"):
        call(data, "-o", "plain.svg", "--show", show, "--ranker", "overlap")
        assert call(data, "-o", "marked.svg", "--show", show, "--gate", "gate.json").exit_code == 0
        assert Path("marked.svg").read_bytes() != Path("plain.svg").read_bytes()
    formats.write_pools("seen.jsonl", pools(300, "other"))
    with pytest.raises(UsageError, match="proves nothing"):
        call("seen.jsonl", "-o", "seen.svg", "--gate", "gate.json")
    assert not Path("seen.svg").exists()


def test_misuse_is_one_clear_line(data: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'curve'"):
        call(data, "-o", "out.svg", "--show", "curves")
    with pytest.raises(UsageError, match=r"not named \.svg or \.png"):
        call(data, "-o", "out.pdf")
    with pytest.raises(UsageError, match="unknown calibrator 'plat'"):
        call(data, "-o", "out.svg", "--show", "reliability", "--calibrator", "plat")
    with pytest.raises(UsageError, match="from 0 to 1"):
        call(data, "-o", "out.svg", "--show", "reliability", "--calibrator", "none", "--ranker", "overlap")
    with pytest.raises(UsageError, match="--calibrator is for --show reliability"):
        call(data, "-o", "out.svg", "--calibrator", "isotonic")
    with pytest.raises(UsageError, match="--seed draws bands and folds, and a histogram has none"):
        call(data, "-o", "out.svg", "--show", "histogram", "--seed", "3")
    assert not list(Path().glob("out*"))


def test_answers_that_nobody_labelled_are_not_wrong(data: Path) -> None:
    bare = [Pool.of(f"what is {n}", ["it is so", "no"], id=f"bare{n}") for n in range(20)]
    formats.write_pools("bare.jsonl", bare)
    with pytest.raises(DataError, match="no candidate has a label"):
        call("bare.jsonl", "-o", "bare.svg")
    formats.write_pools("both.jsonl", [*pools(30), *bare])
    formats.write_pools("labelled.jsonl", pools(30))
    assert "20 pools without labels left out" in call("both.jsonl", "-o", "both.svg").stderr
    call("labelled.jsonl", "-o", "labelled.svg")
    assert Path("both.svg").read_text("utf-8") == Path("labelled.svg").read_text("utf-8")
