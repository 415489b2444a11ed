"""An encoder and a cross-encoder in the forms that libraries read, each with the same weights in all."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import demur
from bench.peers.known import QUESTIONS
from bench.peers.worker import around
from bench.rank import plain_files
from demur.embedders.encoders.loading import located, quietly
from demur.export.export import export
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder


def prepared(folder: Path, threads: int, data: str) -> Path:
    """The folder with all models; what is there already is left."""
    encoder, cross = folder / "encoder", folder / "cross"
    if not (encoder / "model.onnx").exists():
        shutil.rmtree(encoder, ignore_errors=True)
        shutil.copytree(located("minilm"), encoder)
        _encoder_graph(encoder)
    if not (cross / "peers").exists():
        shutil.rmtree(cross, ignore_errors=True)
        _trained(folder / "cross.part", threads, data)
        (folder / "cross.part").rename(cross)
    return folder


def _encoder_graph(folder: Path) -> None:
    """Beside the encoder's other files its graph, which gives a vector of each token."""
    import torch
    from transformers import AutoModel

    with quietly():
        network: Any = AutoModel.from_pretrained(str(folder)).eval()

    class Tokens(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, *given: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.network(**dict(zip(names, given, strict=True))).last_hidden_state
            return found

    names = ["input_ids", "attention_mask", "token_type_ids"]
    sizes = {0: torch.export.Dim("texts", min=1), 1: torch.export.Dim("tokens", min=2)}
    part = folder / "part.onnx"
    with quietly():
        torch.onnx.export(
            Tokens(),
            tuple(torch.ones(2, 9, dtype=torch.int64) for _ in names),
            str(part),
            input_names=names,
            output_names=["last_hidden_state"],
            dynamic_shapes=(tuple(sizes for _ in names),),
            external_data=False,
            dynamo=True,
        )
    part.rename(folder / "model.onnx")


def _trained(folder: Path, threads: int, data: str) -> None:
    """A cross-encoder from MiniLM, as demur saves it, as demur exports it, and as other libraries read it."""
    shutil.rmtree(folder, ignore_errors=True)
    model = folder / "model"
    words = ["train", "--base", "minilm", "--data", data, "--questions", str(QUESTIONS), "--seed", "0"]
    command = [sys.executable, "-W", "ignore", "-m", "demur", *words, "--precision", "fp32", "-o", str(model)]
    subprocess.run(command, check=True, env=around(threads))
    network = demur.ranker(model)
    assert isinstance(network, CrossEncoder)
    for precision in ("int8", "fp32"):
        export(network, folder / precision, precision)
    plain_files(network, folder)
