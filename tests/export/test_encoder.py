"""Sentence encoders as one ONNX file, which is a ranker and an encoder without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import demur
from demur.data import formats
from demur.embedders import embedder
from demur.errors import DemurError
from demur.export.export import export
from demur.rankers import open_model
from demur.training import trainer
from laws import toys
from training import made

POOLS = made.pools(6)


@pytest.fixture
def data(tmp_path: Path) -> str:
    path = tmp_path / "pools.jsonl"
    formats.write_pools(path, POOLS)
    return str(path)


@pytest.mark.parametrize("precision", ["int8", "fp32"])
@pytest.mark.parametrize("kind", ["bi-encoder", "encoder"])
def test_scores_are_those_of_the_network(kind: str, precision: str, data: str, tmp_path: Path) -> None:
    network = demur.ranker(kind, **toys.settings(kind))
    found = export(network, tmp_path / "small", precision, data)
    assert found.precision == precision and found.ranker.spec.startswith("bi-encoder(")
    ours, theirs = (np.concatenate(each.score_pools(POOLS)) for each in (found.ranker, network))
    assert np.abs(ours - theirs).max() < (1e-4 if precision == "fp32" else 0.1)
    assert found.agreement.largest == pytest.approx(float(np.abs(ours - theirs).max()), abs=1e-5)
    assert {each.name for each in (tmp_path / "small").iterdir()} == {
        *("README.md", "model.onnx", "ranker.json", "tokenizer.json"),
    }
    both = embedder(f'encoder(model="{tmp_path}/small")')
    assert both.embed(["ship", "the cape", ""]).shape == (3, 16) and not both.embed([""]).any()


def test_it_runs_where_torch_is_not(data: str, tmp_path: Path) -> None:
    export(demur.ranker("bi-encoder", **toys.settings("bi-encoder")), tmp_path / "small", calibrate=data)
    code = f"""
import sys
sys.modules["torch"] = sys.modules["transformers"] = None
import demur
for spec in ({str(tmp_path / "small")!r}, {f'encoder(model="{tmp_path}/small")'!r}):
    print(demur.ranker(spec).score("quest1?", ["cape", "the ship"]).tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = map(json.loads, done.stdout.splitlines())
    assert first == second


def test_another_export_is_another_model(data: str, tmp_path: Path) -> None:
    taught = trainer(
        "bi-encoder", base=toys.bert(), tokens=200, learning_rate=0.01, max_length=24, precision="fp32"
    ).train(POOLS)
    first = export(demur.ranker("bi-encoder", **toys.settings("bi-encoder")), tmp_path / "a", calibrate=data)
    second = export(taught, tmp_path / "b", calibrate=data)
    prints = {first.ranker.fingerprint, second.ranker.fingerprint, taught.fingerprint}
    assert len(prints) == 3 and open_model(tmp_path / "a").fingerprint == first.ranker.fingerprint
    assert (
        embedder(f'encoder(model="{tmp_path}/a")').fingerprint
        != embedder(f'encoder(model="{tmp_path}/b")').fingerprint
    )


def test_what_cannot_be_is_said(data: str, tmp_path: Path) -> None:
    small = export(
        demur.ranker("bi-encoder", **toys.settings("bi-encoder")), tmp_path / "small", calibrate=data
    ).ranker
    with pytest.raises(
        DemurError, match="was exported and cannot learn; name the folder it was exported from"
    ):
        trainer("bi-encoder", base=str(tmp_path / "small")).train(POOLS)
    with pytest.raises(DemurError, match="was exported and cannot learn"):
        export(small, tmp_path / "again", calibrate=data)
    with pytest.raises(DemurError, match="needs no torch already"):
        export(demur.ranker("encoder"), tmp_path / "again", calibrate=data)
    with pytest.raises(DemurError, match="puts a prompt before texts"):
        export(
            demur.ranker("encoder", model=toys.bert(), question_prompt="q: "), tmp_path / "p", calibrate=data
        )
    with pytest.raises(DemurError, match="an exported encoder has no vectors of words"):
        embedder(f'encoder(model="{tmp_path}/small")').tokens(["ship"])
    with pytest.raises(DemurError, match="what was exported runs on the CPU, and takes no precision"):
        demur.ranker("encoder", model=str(tmp_path / "small"), precision="bf16")
    assert not (tmp_path / "again").exists() and not (tmp_path / "p").exists()


def test_a_folder_of_another_kind_is_no_encoder(data: str, tmp_path: Path) -> None:
    with pytest.raises(DemurError, match="holds an ONNX file that is no encoder's; name it as a ranker"):
        embedder(f'encoder(model="{toys.exported("fp32")}")').embed(["ship"])
    export(demur.ranker("bi-encoder", **toys.settings("bi-encoder")), tmp_path / "small", calibrate=data)
    facts = json.loads((tmp_path / "small/ranker.json").read_text("utf-8"))
    del facts["files"]["model.onnx"], facts["seal"]
    (tmp_path / "small/ranker.json").write_text(json.dumps(facts), "utf-8")
    with pytest.raises(DemurError):
        demur.ranker(f'encoder(model="{tmp_path}/small")').score("quest1?", ["cape"])
