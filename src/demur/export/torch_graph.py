"""Any sequence classifier with one output as an ONNX file, by torch's exporter."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.embedders.encoders.loading import quietly
from demur.errors import DataError, require

if TYPE_CHECKING:
    import torch


def write_graph(network: torch.nn.Module, inputs: Sequence[str], path: Path) -> None:
    """Write the network's graph in floats; `inputs` are what it is to be told of a pair."""
    torch: Any = require("torch", extra="export")
    require("onnxscript", extra="export")

    class Scores(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, *given: torch.Tensor) -> torch.Tensor:
            logits: torch.Tensor = self.network(**dict(zip(inputs, given, strict=True))).logits
            return logits[:, 0]

    sizes = {0: torch.export.Dim("pairs", min=1), 1: torch.export.Dim("tokens", min=2)}
    example = tuple(torch.ones(2, 9, dtype=torch.int64) for _ in inputs)
    try:
        with quietly(), contextlib.redirect_stdout(io.StringIO()):  # it tells of each step
            torch.onnx.export(
                Scores().eval(),
                example,
                str(path),
                input_names=list(inputs),
                output_names=["score"],
                dynamic_shapes=(tuple(sizes for _ in inputs),),  # one for *given
                external_data=False,
                dynamo=True,
                verbose=False,
            )
    except Exception as error:  # torch has many, each of many lines
        why = f"{type(error).__name__}: {' '.join(str(error).split())}"[:160]
        kind = type(network).__name__
        raise DataError(f"torch cannot export a {kind} ({why})", fix="use it with torch instead") from None


def to_bytes(path: Path) -> None:
    """Put the file's matrix products in bytes, their scales taken from each batch as it comes."""
    import logging

    quantization: Any = require("onnxruntime.quantization", extra="export")
    onnx: Any = require("onnx", extra="export")
    plain = path.with_name(f"{path.name}.float")
    model = onnx.load(path)
    del model.graph.value_info[:]  # torch's shapes of constants are not always those they have
    onnx.save(model, plain)
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.ERROR)  # it recommends steps that change nothing here
    try:
        kind = quantization.QuantType.QInt8
        quantization.quantize_dynamic(
            plain,
            path,
            op_types_to_quantize=["MatMul", "Gemm"],
            per_channel=True,
            reduce_range=True,  # weights of 7 bits, as nothing finer is to be had here
            weight_type=kind,
        )
    finally:
        root.setLevel(before)
        plain.unlink()


def tell(path: Path, facts: dict[str, str]) -> None:
    """Write facts into a file's head."""
    onnx: Any = require("onnx", extra="export")
    model = onnx.load(path)
    onnx.helper.set_model_props(model, facts)
    onnx.save(model, path)
