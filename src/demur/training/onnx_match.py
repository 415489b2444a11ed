"""A net that matches words as an ONNX file, by torch's exporter: numbers of words in, scores out."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.embedders.encoder_loading import quietly
from demur.errors import DataError, require

if TYPE_CHECKING:
    from demur.nets.match_net import Worded


def write(network: Worded, path: Path) -> None:
    """Write the graph: ``questions`` and ``answers`` are pairs × words, 0 fills up."""
    torch: Any = require("torch", extra="export")
    require("onnx", extra="export")
    names = {"questions": 1, "answers": 1, "score": 0}
    sizes = {name: {0: "pairs"} | ({1: f"words of {name}"} if words else {}) for name, words in names.items()}
    example = tuple(torch.ones(3, length, dtype=torch.int64) for length in (7, 9))
    try:
        with quietly(), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                network.eval(),
                example,
                str(path),
                input_names=["questions", "answers"],
                output_names=["score"],
                dynamic_axes=sizes,
                opset_version=18,
                dynamo=False,  # the newer one unrolls an LSTM over as many words as the example has
            )
    except Exception as error:  # torch has many, each of many lines
        why = f"{type(error).__name__}: {' '.join(str(error).split())}"[:160]
        kind = type(network.net).__name__
        raise DataError(f"torch cannot export a {kind} ({why})", fix="use it with torch instead") from None
