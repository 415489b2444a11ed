from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import demur
from demur.data import formats
from demur.errors import DataError, UsageError
from demur.export import bert_graph
from demur.export import export as exporting
from demur.export.export import export
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder
from demur.rankers.opening import save
from demur.training import trainer
from demur.types import Pool
from laws import toys

LEARNT = [Pool.of("quest?", ["the ship", "may", "cape"], [1, 0, 0])]
ANSWERS = ["the ship sailed", "cape 🎉", "nothing but the cape in may", ""]


def classifier(kind: str, folder: Path) -> str:
    """A folder with a tiny network of another kind, with the toys' tokenizer."""
    import torch
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        DistilBertConfig,
        RobertaConfig,
    )

    from demur.embedders.encoders.loading import quietly

    with quietly(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        tokenizer = AutoTokenizer.from_pretrained(toys.bert())
        if kind == "distilbert":
            config = DistilBertConfig(
                vocab_size=len(tokenizer), dim=16, n_layers=1, n_heads=2, hidden_dim=32, num_labels=1
            )
        else:
            config = RobertaConfig(
                vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                intermediate_size=32, max_position_embeddings=60, type_vocab_size=2,
                num_labels=1, pad_token_id=0,
            )  # fmt: skip
        config.initializer_range = 0.5
        AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("kind, precision", [("roberta", "fp32"), ("distilbert", "int8")])
def test_other_networks_are_exported_by_torch(kind: str, precision: str, tmp_path: Path) -> None:
    ranker = CrossEncoder(model=classifier(kind, tmp_path / "net"), device="cpu")
    made = export(ranker, tmp_path / "out", precision)
    assert made.graph == "torch"
    texts = [*ANSWERS, *(f"ship {'round ' * n}" for n in range(9))]
    ours, theirs = made.ranker.score("which ship?", texts), ranker.score("which ship?", texts)
    assert np.abs(ours - theirs).max() < (1e-4 if precision == "fp32" else theirs.std())
    alone = np.concatenate([made.ranker.score("which ship?", [text]) for text in texts])
    assert np.abs(ours - alone).max() <= made.ranker.tolerance


def test_the_folder_says_how_near_it_is(tmp_path: Path) -> None:
    formats.write_pools(tmp_path / "mine.jsonl", [Pool.of("ship?", ANSWERS), Pool.of("may?", ANSWERS[:2])])
    made = export(
        CrossEncoder(model=toys.classifier()), tmp_path / "out", "int8", str(tmp_path / "mine.jsonl")
    )
    kept = json.loads((tmp_path / "out" / "ranker.json").read_text())
    assert kept["made"]["agreement"]["pairs"] == made.agreement.pairs == 6
    assert 0.5 < made.agreement.spearman <= 1 and made.agreement.largest > 0
    assert f"{made.agreement.spearman:.4f}" in (tmp_path / "out" / "README.md").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.jsonl", "out"]


def test_a_graph_that_is_off_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bert_graph._Bert, "_gelu", lambda self, x: x)
    with pytest.raises(DataError, match=r"off by .* so nothing was written"):
        export(CrossEncoder(model=toys.classifier()), tmp_path / "out", "fp32")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["joint", "support"])
def test_what_reads_beside_others_is_not_exported_as_if_it_did_not(name: str, tmp_path: Path) -> None:
    made = trainer(name, base=toys.bert(), epochs=1, first="length", k=2).train(LEARNT)
    with pytest.raises(UsageError, match=f"{name} reads an answer beside others of its pool"):
        export(made, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_bytes_that_rank_otherwise_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    network = CrossEncoder(model=toys.classifier())
    export(network, tmp_path / "fine", "fp32")
    assert "rank otherwise" not in caplog.text
    monkeypatch.setattr(exporting, "ALIKE", 1.1)
    export(network, tmp_path / "int8", "int8")
    assert "in int8 the scores rank otherwise than the network's" in caplog.text


def test_what_cannot_be_exported_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a cross-encoder"):
        export(demur.ranker("bm25"), tmp_path / "out")
    with pytest.raises(UsageError, match="use int8 or fp32"):
        export(CrossEncoder(model=toys.classifier()), tmp_path / "out", "int4")
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(DataError, match="is not a model"):
        export(CrossEncoder(model=toys.classifier()), tmp_path)


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "demur", *map(str, words)]
    plain = {**os.environ, "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, env=plain)


def test_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "answers.txt").write_text("the ship\ncape\n")
    done = run("export", toys.classifier(), "-o", tmp_path / "out", "--precision", "fp32", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["agreement"]["largest"] < 1e-4
    words = ("rank", "ship?", "--candidates", tmp_path / "answers.txt", "--ranker", tmp_path / "out")
    done = run(*words)
    assert done.returncode == 0 and "the ship" in done.stdout, done.stderr
    done = run("export", "bm25", "-o", tmp_path / "no")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "not a cross-encoder" in done.stderr


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="a place where nobody may write")
def test_where_nothing_can_be_written_there_is_one_line_before_the_work() -> None:
    with pytest.raises(DataError, match="/proc/model: "):
        export(CrossEncoder(model=toys.classifier()), "/proc/model")
    done = run(
        "evaluate", "example/questions", "--suite", "robust", "--ranker", "length", "-o", "/proc/robust"
    )
    assert done.returncode == 2 and done.stderr.startswith("demur: /proc/robust: "), done.stderr


def test_a_model_is_not_exported_onto_itself(tmp_path: Path) -> None:
    save(CrossEncoder(model=toys.classifier()), tmp_path / "model")
    with pytest.raises(UsageError, match="holds the network itself"):
        export(demur.open(tmp_path / "model"), tmp_path / "model")
    assert demur.open(tmp_path / "model").name == "cross-encoder"


def test_what_runs_without_torch_already_needs_no_export(tmp_path: Path) -> None:
    for made in (toys.small(), toys.exported()):
        with pytest.raises(UsageError, match="runs without torch as it is; copy its folder"):
            export(demur.ranker(made), tmp_path / "out")
    assert not (tmp_path / "out").exists()
