"""A net that matches words as an ONNX file, by torch's exporter: vectors of words in, scores out."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.embedders.encoders.loading import quietly
from demur.errors import DataError, require

if TYPE_CHECKING:
    from demur.nets.matching.match_net import MatchNet


INPUTS = ("question", "answer", "asked", "there")


def write_graph(net: MatchNet, path: Path) -> None:
    """Write the graph: from vectors of words, and which of a text's places are words, to scores."""
    torch: Any = require("torch", extra="export")
    require("onnx", extra="export")
    wide = int(net.sizes["wide"])
    of = dict(zip(INPUTS, ("question", "answer", "question", "answer"), strict=True))
    sizes = {name: {0: "pairs", 1: f"words of {text}"} for name, text in of.items()} | {"score": {0: "pairs"}}
    example = (*(torch.ones(3, n, wide) for n in (7, 9)), *(torch.ones(3, n).bool() for n in (7, 9)))
    try:
        with quietly(), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                net.eval(),
                example,
                str(path),
                input_names=list(INPUTS),
                output_names=["score"],
                dynamic_axes=sizes,
                opset_version=18,
                dynamo=False,  # the newer one unrolls an LSTM over as many words as the example has
            )
    except Exception as error:  # torch has many, each of many lines
        why = f"{type(error).__name__}: {' '.join(str(error).split())}"[:160]
        kind = type(net).__name__
        raise DataError(f"torch cannot export a {kind} ({why})", fix="use it with torch instead") from None
