"""The small model that comes with demur does what is said of it; a bare copy of the source may lack it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import demur
from demur.embedders.encoders.packaged import packaged
from demur.errors import DataError
from demur.reading.readers.mini import PACKAGED, Mini
from demur.risk import Gate

HEAVY = ("torch", "transformers", "sentence_transformers", "onnx", "matplotlib")
QUESTION = "How long may members keep a drill?"
PASSAGES = [
    "The workshop opens at nine and closes at six, except on Sundays.",
    "Members may keep a drill for two weeks. Longer loans need the warden's word.",
    "A drill turns a bit to make holes; it was patented in 1889.",
    "Nobody may eat at the benches.",
]

pytestmark = pytest.mark.skipif(
    not (PACKAGED / "model.onnx").is_file(), reason="no model came with this copy"
)


def test_it_ranks_quotes_and_doubts() -> None:
    mini = demur.ranker("mini")
    assert isinstance(mini, Mini)
    looks = mini.look(QUESTION, PASSAGES)
    assert max(range(4), key=lambda n: looks[n].score) == 1
    assert looks[1].span is not None and "two weeks" in looks[1].span.text
    assert looks[1].confidence == max(look.confidence for look in looks)
    assert looks[3].span is None and looks[3].confidence < 0.2


def test_it_is_small_whole_and_told_of() -> None:
    size = sum(path.stat().st_size for path in PACKAGED.iterdir() if path.suffix in (".onnx", ".json"))
    assert size <= 25e6
    assert demur.open(PACKAGED).fingerprint == demur.ranker("mini").fingerprint
    assert Mini().confidence_model is not None
    card = (PACKAGED / "README.md").read_text("utf-8")
    for part in ("ranks", "reads", "doubts", "Limits", "terms", "made"):
        assert any(part in line for line in card.splitlines() if line.startswith("## ")), part
    kept = "".join(
        path.read_text("utf-8") for path in PACKAGED.glob("*.json") if path.name != "tokenizer.json"
    )
    assert "/home/" not in kept and "/tmp/" not in kept and "/work/" not in kept


@pytest.mark.parametrize(
    ("name", "file"),
    [
        *(("mini", file) for file in ("model.onnx", "tokenizer.json", "sureness.json", "ranker.json")),
        *(("encoder", file) for file in ("model.onnx", "tokenizer.json", "ranker.json")),
    ],
)
def test_a_single_bit_that_changed_is_one_line(name: str, file: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(PACKAGED.parent / name, folder)
    path = folder / file
    content = bytearray(path.read_bytes())
    at = content.index(b'"files"') + 30 if file == "ranker.json" else len(content) // 2
    content[at] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"checksum|is broken") as refused:
        Mini(folder=str(folder)).look("who?", ["Ada did."]) if name == "mini" else packaged(folder)
    assert "\n" not in str(refused.value) and "again" in str(refused.value)


def test_every_gate_that_comes_with_demur_is_sealed() -> None:
    files = sorted(PACKAGED.parent.rglob("gate*.json"))
    assert len(files) >= 6 and all('"seal": "' in file.read_text("utf-8") for file in files)


def test_its_gates_are_its_own() -> None:
    files = sorted(PACKAGED.glob("gate*.json"))
    assert PACKAGED / "gate.json" in files
    for file in files:
        gate = Gate.load(file)
        gate.check_ranker(demur.ranker("mini"))
        ranking = demur.ranker("mini").rank(QUESTION, PASSAGES)
        assert gate.judge(ranking).confidence > 0, "its qualifier is this model"
        assert json.loads(file.read_text("utf-8"))["promise"] == gate.promise


def test_it_opens_without_torch_and_without_the_command_line() -> None:
    """What makes it quick; `make bench-ask` says how quick."""
    code = f"""
    import sys
    for name in {HEAVY!r}:
        sys.modules[name] = None
    import demur
    mini = demur.ranker("mini")
    mini.look("who?", ["Ada did."])
    print({{"rich", "typer", "demur.experiments", "demur.training"}} & set(sys.modules))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "set()"
