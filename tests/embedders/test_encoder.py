from __future__ import annotations

import json
import logging
import pickle
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.embedders import embedder, encoder_loading
from demur.embedders.encoder import Encoder
from demur.embedders.encoder_loading import located, quietly
from demur.embedders.encoder_network import Network
from demur.errors import DataError, UsageError
from laws import toys

TEXTS = ["ship sailed round the cape", "nothing", "", "船 café 🎉?", "  \n", "ship", "\u200b", "ship", "?!"]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder(toys.bert("mean_tokens", normalize=True))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of the test's own, to be changed."""
    return Path(shutil.copytree(toys.bert(), tmp_path / "model"))


def test_one_row_per_text_in_order_and_zeros_for_nothing(encoder: Encoder) -> None:
    found = encoder.embed(TEXTS)
    assert found.shape == (len(TEXTS), 16) and found.dtype == np.float32 and encoder.width == 16
    assert (~found.any(axis=1)).tolist() == [text in ("", "  \n", "\u200b") for text in TEXTS]
    assert np.allclose(np.linalg.norm(found[found.any(axis=1)], axis=1), 1, atol=1e-6)
    assert found[5].tolist() == found[7].tolist()
    for text, row in zip(TEXTS, found, strict=True):
        assert np.allclose(encoder.embed([text])[0], row, rtol=0, atol=1e-5)
    assert encoder.embed([]).shape == (0, 16)


@settings(deadline=None, max_examples=15)
@given(order=st.permutations(range(len(TEXTS))))
def test_the_order_of_texts_changes_no_bit(encoder: Encoder, order: list[int]) -> None:
    found = encoder.embed([TEXTS[place] for place in order])
    assert (found == encoder.embed(TEXTS)[order]).all()


def test_each_different_text_goes_through_once(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    tokenise = Network.encodings

    def noting(self: Network, texts: Sequence[str], length: int) -> list[Any]:
        seen.extend(texts)
        return tokenise(self, texts, length)

    monkeypatch.setattr(Network, "encodings", noting)
    encoder.embed(TEXTS * 3)
    assert sorted(seen) == sorted({*TEXTS} - {"", "  \n"})
    seen.clear()
    encoder.tokens(TEXTS * 2)
    assert sorted(seen) == sorted({*TEXTS})


def test_long_texts_and_halves_of_characters(encoder: Encoder, caplog: pytest.LogCaptureFixture) -> None:
    found = encoder.embed(["ship " * 40_000, "half \ud83c of one", "half \ufffd of one"])
    assert np.isfinite(found).all() and found[1].tolist() == found[2].tolist()
    words = encoder.tokens(["ship " * 40_000, "half \ud83c ship"], "all")
    assert words.counts.tolist() == [46, 2]  # of 48 tokens two are the model's own
    assert words.spans[-1].tolist() == [7, 11]


def test_cut_texts_are_counted_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = shutil.copytree(toys.bert(), tmp_path / "model")
    with caplog.at_level(logging.WARNING, "demur"):
        for _ in range(2):
            Encoder(str(folder), max_length=4).embed(["the ship sailed round", "the ship", "the the the"])
    assert [record.getMessage() for record in caplog.records] == [
        f"{folder} read only 4 tokens of 2 of 3 texts; max_length=48 reads more"
    ]
    caplog.clear()
    with caplog.at_level(logging.WARNING, "demur"):  # words in context say so, too
        Encoder(str(folder), max_length=3).tokens(["the ship sailed round", "ship", "ship"], words="all")
    assert [record.getMessage() for record in caplog.records] == [
        f"{folder} read only 3 tokens of 1 of 3 texts; split longer texts to have all read"
    ]
    same = Encoder(str(folder), max_length=4).embed(["the ship sailed round", "the ship"])
    assert same[0].tolist() == same[1].tolist()


@pytest.mark.parametrize("length", [1, 2, 49])
def test_lengths_that_no_text_fits_are_one_line(length: int) -> None:
    with pytest.raises(UsageError, match=f"max_length={length} does not suit .* takes 3 to 48 tokens"):
        Encoder(toys.bert(), max_length=length).embed(["ship"])


def test_words_are_the_mean_of_their_pieces() -> None:
    encoder = Encoder(toys.bert())
    text = "The SHIP, quested round!"
    found = encoder.tokens([text, "", text], "all")
    assert found.words == ("the", "ship", "quested", "round") * 2
    assert found.counts.tolist() == [4, 0, 4]
    assert [text[start:end] for start, end in found.spans[:4]] == ["The", "SHIP", "quested", "round"]
    network = encoder._network()
    (encoding,) = network.encodings([text], 48)
    assert encoding.tokens == ["[CLS]", "the", "ship", ",", "quest", "##ed", "round", "!", "[SEP]"]
    with torch.inference_mode():
        hidden = network.network(input_ids=torch.tensor([encoding.ids])).last_hidden_state[0].numpy()
    expected = [hidden[1], hidden[2], (hidden[4] + hidden[5]) / 2, hidden[6]]
    assert np.allclose(found.vectors[:4], expected, atol=1e-5)
    content = encoder.tokens([text])
    assert content.words == ("ship", "quested", "round")
    assert np.allclose(content.vectors, found.vectors[1:4], atol=0)
    assert encoder.tokens([]).vectors.shape == (0, 16)
    with pytest.raises(UsageError, match="must be content or all"):
        encoder.tokens([text], "some")


def test_words_where_a_piece_holds_several_of_them() -> None:
    """A tokeniser that splits at spaces alone: what stands within one piece shares its vector."""
    from demur.embedders.encoder_words import _shared

    pieces, words = np.array([[0, 8], [9, 12], [12, 15]]), np.array([[0, 3], [4, 8], [9, 15], [20, 22]])
    piece, word = _shared(pieces, words)
    assert list(zip(piece.tolist(), word.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 2), (2, 2)]
    none = np.empty((0, 2), np.int64)
    assert _shared(pieces, none)[0].tolist() == [] and _shared(none, words)[1].tolist() == []


def test_prompts_stand_before_every_text(model: Path) -> None:
    plain = Encoder(str(model))
    asked = Encoder(str(model), prompt="the: ")
    assert np.allclose(asked.embed(["ship"]), plain.embed(["the: ship"]), atol=1e-6)
    assert not asked.embed([" "]).any(), "a text of nothing stays one"
    found = asked.tokens(["a ship"])
    assert found.words == ("ship",) and found.spans.tolist() == [[2, 6]]
    whole = plain.tokens(["the: a ship"])
    assert np.allclose(found.vectors, whole.vectors, atol=1e-5)
    said = {"prompts": {"query": "round: ", "document": ""}, "default_prompt_name": "query"}
    shutil.copytree(toys.bert("mean_tokens"), model, dirs_exist_ok=True)
    (model / "config_sentence_transformers.json").write_text(json.dumps(said), "utf-8")
    assert plain.how.prompt_for("passage", "query") == "round: "
    assert np.allclose(plain.embed(["ship"]), Encoder(toys.bert()).embed(["round: ship"]), atol=1e-6)


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


def test_it_travels_and_is_spelled(encoder: Encoder) -> None:
    other = pickle.loads(pickle.dumps(encoder))
    assert other == encoder == embedder(encoder.spec)
    assert (other.embed(TEXTS) == encoder.embed(TEXTS)).all()


def test_half_precision_is_near() -> None:
    exact, half = (Encoder(toys.bert(), precision=name).embed(TEXTS) for name in ("fp32", "bf16"))
    assert half.dtype == np.float32
    assert 0 < np.abs(exact - half).max() < 0.1


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
        ({"precision": "fp16"}, "precision=fp16 of an encoder must be one of fp32, bf16"),
        ({"device": "tpu"}, "device=tpu of an encoder must be one of auto, cpu, cuda"),
        ({"model": ""}, "needs a model"),
        ({"max_length": -1}, "max_length=-1 cuts everything"),
        ({"revision": "main"}, "revision=main is for models of the Hugging Face hub"),
        ({"prompt": '"it\'s"'}, "not both"),
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
    refused("makes vectors that are no finite numbers; name another model")
    save_file({name: weights[name] for name in weights if name != first}, model / "model.safetensors")
    refused(f"lacks 1 of its network's weights, such as {first}")
    (model / "model.safetensors").write_bytes(b"no weights at all")
    refused("cannot be loaded as an encoder")
    (model / "model.safetensors").rename(model / "pytorch_model.bin")
    refused(r"holds no \*\.safetensors, and pickled weights are not read")
    (model / "config.json").write_text("{", "utf-8")
    refused(r"config\.json: is broken")
    (model / "config.json").unlink()
    refused("holds no encoder, as it has neither modules.json nor config.json")


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
        "the model 'org/away' at revision 'v2' is no folder here, and the Hugging Face hub gives none "
        "(Name or service not known); check the spelling and the network, or copy the model here and name "
        "its folder; minilm needs no network"
    )


def test_a_model_that_changes_is_read_again(model: Path) -> None:
    encoder = Encoder(str(model))
    before = encoder.embed(["ship"])
    other = json.loads((model / "config.json").read_text("utf-8"))
    (model / "config.json").write_text(json.dumps({**other, "layer_norm_eps": 0.5}), "utf-8")
    assert np.abs(encoder.embed(["ship"]) - before).max() > 1e-3
