from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cli.calling import process
from demur.cli.training.train import _trainer, line
from demur.data import formats
from demur.errors import UsageError
from demur.rankers import open_model
from laws import toys
from training import made

RECIPES = Path(__file__).parents[2] / "recipes"
READER, TANDA = RECIPES / "reader-squad2.toml", RECIPES / "transfer-then-adapt.toml"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    formats.write_pools(tmp_path / "train.jsonl", made.pools(30))
    formats.write_pools(tmp_path / "dev.tsv", made.pools(8, seed=1))
    return tmp_path


@pytest.mark.slow
def test_a_recipe_and_options_make_the_same_model(data: Path) -> None:
    trainer = f'siamese(features="{made.words()}", loss=pairwise, epochs=2)'
    (data / "r.toml").write_text(
        f"trainer = '{trainer}'\nseed = 3\n[[stage]]\ndata = '{data}/train.jsonl'\ndev = '{data}/dev.tsv'\n"
    )
    done = process("train", data / "r.toml", "-o", data / "one", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert said["ranker"] == f"siamese(folder={data / 'one'})" and len(said["stages"][0]["log"]) == 2
    assert set(said["dev"]["MAP"]) == {"mean", "low", "high"}
    words = ("--trainer", trainer, "--data", data / "train.jsonl", "--dev", data / "dev.tsv", "--seed", 3)
    done = process("train", *words, "-o", data / "two")
    assert done.returncode == 0 and done.stdout.startswith("MAP ")
    assert (
        done.stderr
        == f"trained on {said['stages'][0]['counts']['pairs']:,} labelled answers: {data / 'two'}\n"
    )
    files = [(data / name / "model.safetensors").read_bytes() for name in ("one", "two")]
    assert files[0] == files[1]
    done = process("evaluate", data / "dev.tsv", "--ranker", data / "one", "-m", "MAP", "--json")
    assert json.loads(done.stdout)["measures"]["MAP"]["mean"] == said["dev"]["MAP"]["mean"]


@pytest.mark.slow
def test_a_base_is_an_encoder_for_a_cross_encoder(data: Path) -> None:
    words = ("--data", data / "train.jsonl", "--dev", data / "dev.tsv", "--base", toys.classifier())
    done = process("train", *words, "-o", data / "m", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert said["ranker"].startswith("cross-encoder(")
    assert len(said["stages"][0]["log"]) == 3  # epochs
    done = process("train", *words, "--trainer", "cross-encoder(base=minilm)", "-o", data / "n")
    assert done.returncode == 2 and "give it once" in done.stderr


def test_a_precision_is_the_trainers_or_its_students() -> None:
    assert "precision=bf16" in str(_trainer(None, "minilm", "bf16"))
    student = '"cross-encoder(precision=fp32)"'
    assert _trainer("confident(student='cross-encoder')", None, "fp32") == f"confident(student={student})"
    with pytest.raises(UsageError, match="--precision needs --base or --trainer"):
        _trainer(None, None, "bf16")
    with pytest.raises(UsageError, match="the precision is given in --trainer and in --precision"):
        _trainer("cross-encoder(precision=fp32)", None, "bf16")


def test_a_base_is_the_students_where_there_is_one() -> None:
    assert _trainer("confident", "minilm") == 'confident(student="cross-encoder(base=minilm)")'
    spec = "confident(folds=3, student='cross-encoder(epochs=2)')"
    student = '"cross-encoder(base=minilm, epochs=2)"'
    assert _trainer(spec, "minilm") == f"confident(folds=3, student={student})"
    with pytest.raises(UsageError, match="give it once"):
        _trainer("confident(student='cross-encoder(base=minilm)')", "minilm")
    assert _trainer("siamese", "minilm") == "siamese(base=minilm)", "which it refuses in its own words"


@pytest.mark.slow
def test_of_two_processes_one_speaks_and_writes(data: Path) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
    command += [
        "demur",
        "train",
        "--data",
        str(data / "train.jsonl"),
        "--dev",
        str(data / "dev.tsv"),
        "--json",
    ]
    command += ["--trainer", f"cross-encoder(base={toys.classifier()}, tokens=64)", "-o", str(data / "m")]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["output"] == str(data / "m")
    assert open_model(data / "m").score("goat eats", ["daily grass"]).shape == (1,)
    assert not (data / "m.parts").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train"], "name the model's folder with -o"),
        (["train", "-o", "m"], "name a recipe, or labelled pools with --data; one of the two"),
        (["train", "r.toml", "--data", "x", "-o", "m"], "one of the two"),
        (["train", "r.toml", "--seed", "1", "-o", "m"], "need --data; a recipe has its own"),
        (["train", "r.toml", "-o", "m"], "r.toml: no such file; check the spelling of the path"),
        (["train", str(READER), "--scale", "huge", "-o", "m"], "its scales are cpu, full"),
        (["train", str(TANDA), "--scale", "full", "-o", "m"], "it has no scales"),
        (["train", "--data", "x", "--scale", "cpu", "-o", "m"], "without a recipe, say --questions"),
        (["train", "--data", "nope.jsonl", "-o", "m"], "nope.jsonl: no such file or folder"),
        (["train", "--data", "x", "--trainer", "siamise", "-o", "m"], "did you mean 'siamese'"),
    ],
)
def test_misuse_is_one_line_and_exit_2(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = process(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr and done.stderr.count("\n") == 1


def test_the_line_for_who_is_waiting() -> None:
    facts = {
        "stage": 1,
        "stages": 2,
        "epoch": 3,
        "epochs": 50,
        "loss": 0.25,
        "share": 0.5,
        "pairs_per_second": 9999.0,
    }
    assert line(facts) == "stage 1 of 2, epoch 3 of 50, 50%, loss 0.2500, 9,999 a second"
    facts = {"stage": 2, "stages": 2, "step": 10, "steps": 20, "loss": 0.5, "seconds_left": 120.0}
    assert line(facts) == "stage 2 of 2, step 10 of 20, loss 0.5000, 2 min left"
    grown = {"stage": 3, "stages": 3, "epoch": 6, "dev": 0.5, "members": 3}  # as the trainer members says
    assert line(grown) == "stage 3 of 3, epoch 6, dev 0.5000"
    assert line({"stage": 1, "stages": 1, "epoch": 1, "epochs": 2, "loss": 0.5, "dev": 0.125}).endswith(
        "dev 0.1250"
    )
