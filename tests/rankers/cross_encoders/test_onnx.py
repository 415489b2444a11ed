from __future__ import annotations

import logging
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import demur
from demur.errors import DataError, UsageError
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder
from demur.rankers.cross_encoders.onnx import Onnx
from demur.runtime import alike
from demur.types import Pool
from laws import toys

QUESTION = "which ship sailed round the cape?"
ANSWERS = ["the ship sailed", "", "cape 🎉 船", "may " * 2500, "nothing", "x", "the ship sailed"]
HEAVY = ("torch", "transformers", "sentence_transformers", "onnx")


def exact() -> CrossEncoder:
    return CrossEncoder(model=toys.classifier(), device="cpu")


def test_floats_equal_torch() -> None:
    ranker = demur.open(toys.exported("fp32"))
    long = "which ship " * 400
    for question in (QUESTION, "", long):
        expected = exact().score(question, ANSWERS)
        assert np.allclose(ranker.score(question, ANSWERS), expected, rtol=0, atol=1e-4)
    assert np.ptp(expected) > 1e-3


def test_bytes_are_near() -> None:
    texts = [f"{first} {second} the cape" for first in toys.WORDS for second in toys.WORDS]
    ours, theirs = demur.open(toys.exported()).score(QUESTION, texts), exact().score(QUESTION, texts)
    assert np.corrcoef(ours, theirs)[0, 1] > 0.98
    assert 1e-5 < np.abs(ours - theirs).max() < theirs.std(), "bytes round"


@pytest.mark.parametrize("precision", ["int8", "fp32"])
@pytest.mark.parametrize("threads", [1, 3])
def test_company_moves_no_score(precision: str, threads: int) -> None:
    ranker = demur.ranker(toys.exported(precision), threads=threads)
    many = [Pool.of(QUESTION, ANSWERS), Pool.of("?", [f"ship {n} {'round ' * (n % 7)}" for n in range(60)])]
    together = np.concatenate(ranker.score_pools(many))
    alone = np.concatenate([ranker.score(pool.question, [text]) for pool in many for text in pool.answers])
    assert np.abs(together - alone).max() <= ranker.tolerance


def test_long_pairs_are_cut_as_torch_cuts_them(caplog: pytest.LogCaptureFixture) -> None:
    answers = ["may " * 5000, "cape", "the ship sailed round the cape in may 🎉 abc " * 2]
    with caplog.at_level(logging.WARNING, "demur"):
        scores = demur.ranker(toys.exported("fp32"), max_length=16).score("ship", answers)
    assert "2 of 3 pairs were cut at 16 tokens; set max_length" in caplog.text
    expected = CrossEncoder(model=toys.classifier(), max_length=16).score("ship", answers)
    assert np.allclose(scores, expected, rtol=0, atol=1e-4)


def test_nothing_to_score() -> None:
    ranker = demur.open(toys.exported())
    assert [each.tolist() for each in ranker.score_pools([Pool("a", "?", ())])] == [[]]
    assert ranker.score_pools([]) == []
    assert len(ranker.rank(QUESTION, ["one"])) == 1


def test_no_torch_is_needed() -> None:
    code = f"""
    import sys
    for name in {HEAVY!r}:
        sys.modules[name] = None
    import demur
    ranker = demur.open({toys.exported()!r})
    print(len(ranker.rank("ship?", ["cape", "may 🎉"])))
    pools = [demur.Pool.of("ship?", ["cape", "may"], [1, 0])]
    print(demur.evaluate(ranker, pools, ["MAP"]).pools)
    """
    script = textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2", "1"]


def test_a_folder_is_opened_and_saved_again(tmp_path: Path) -> None:
    ranker = demur.open(toys.exported())
    scores = ranker.score(QUESTION, ANSWERS)
    ranker.save(tmp_path / "copy")
    again = demur.open(tmp_path / "copy")
    assert again.score(QUESTION, ANSWERS).tolist() == scores.tolist()
    assert again.fingerprint == ranker.fingerprint
    assert demur.ranker(toys.exported(), threads=1).fingerprint == ranker.fingerprint
    assert demur.open(toys.exported("fp32")).fingerprint != ranker.fingerprint


def test_what_is_wrong_with_a_folder_is_one_line(tmp_path: Path) -> None:
    changed = shutil.copytree(toys.exported(), tmp_path / "changed")
    (changed / "model.onnx").write_bytes((changed / "model.onnx").read_bytes()[:-9])
    with pytest.raises(DataError, match="checksum"):
        demur.open(changed)
    with pytest.raises(DataError, match=r"model\.onnx: cannot be opened") as broken:
        Onnx(folder=str(changed)).score("a", ["b"])
    assert "\n" not in str(broken.value)
    with pytest.raises(DataError, match="demur export"):
        Onnx(folder=str(tmp_path)).score("a", ["b"])


@pytest.mark.parametrize(
    "settings, complaint",
    [
        ({}, "needs a folder"),
        ({"folder": "x", "threads": -1}, "use 1 or more"),
        ({"folder": "x", "max_length": 3}, "use 16 or more"),
    ],
)
def test_settings_that_mean_nothing_are_one_line(settings: dict[str, object], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        Onnx(**settings)  # type: ignore[arg-type]


def test_batches_are_of_one_length() -> None:
    lengths = np.random.default_rng(0).integers(1, 9, 200)
    batches = list(alike(lengths, 16))
    assert sorted(np.concatenate(batches).tolist()) == list(range(200))
    assert all(len(set(lengths[batch])) == 1 for batch in batches)
    assert all(lengths[batch].sum() <= 16 for batch in batches)
