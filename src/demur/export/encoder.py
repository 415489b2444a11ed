"""From a sentence encoder of torch to a folder with one ONNX file in bytes, its vectors compared."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from demur import __version__, processor, runtime, store
from demur.embedders.encoders.encoder import Encoder
from demur.embedders.encoders.network import network as network_in
from demur.embedders.encoders.packaged import MODEL, TOKENIZER, packaged
from demur.errors import UsageError
from demur.export import encoder_graph
from demur.export.graph import Graph, Range


@dataclass(frozen=True)
class Near:
    """How near the vectors of an exported encoder are to the network's own: cosines of the two."""

    texts: int
    mean: float
    least: float


def export(encoder: Encoder, folder: Path, texts: Sequence[str], page: str = "") -> Near:
    """Write the folder; `texts` are like those to be embedded, and a third of them only compares."""
    found = network_in(encoder.folder, "fp32", "cpu")
    if not encoder_graph.is_known(found.network):
        raise UsageError(
            f"only a BERT can be exported as an encoder, not a {type(found.network).__name__}; "
            "use it with torch"
        )
    if not (found.how.normalize and found.how.pooling == "mean"):
        raise UsageError(
            "only an encoder that takes means and divides by their length can be exported; use it with torch"
        )
    shown, held = [text for n, text in enumerate(texts) if n % 3], list(texts[::3])
    length = found.length(encoder.max_length)
    facts = {"precision": "int8", runtime.SAFE: "safe"}  # by onnx_graph.in_bytes
    facts |= {"width": str(found.width), "limit": str(length), "positions": str(found.positions)}
    floats = encoder_graph.graph(found.network)
    tokens = [each.ids for each in found.encodings(shown, length)]
    graph = encoder_graph.graph(found.network, _seen(floats, tokens))
    with tempfile.TemporaryDirectory() as beside:
        inside = Path(beside) / "model"
        _write(inside, found, graph, facts, {})
        ours, _ = packaged(inside).sentences(held, length)
        theirs, _ = found.sentences(held, length)
    cosines = (ours * theirs).sum(axis=1)
    near = Near(len(held), float(cosines.mean()), float(cosines.min()))
    made: dict[str, Any] = {"from": encoder.fingerprint, "precision": "int8", "demur": __version__}
    _write(folder, found, graph, facts, made | {"agreement": asdict(near)}, page)
    return near


def _write(
    folder: Path, found: Any, graph: Graph, facts: dict[str, str], made: dict[str, Any], page: str = ""
) -> None:
    with store.saving(folder, "encoder(model=packaged)", made) as place:
        (place / MODEL).write_bytes(graph.model(encoder_graph.INPUTS, [encoder_graph.VECTOR], facts))
        found.tokenizer.no_truncation()
        found.tokenizer.save(str(place / TOKENIZER))
        if page:
            (place / "README.md").write_text(page, "utf-8")


def _seen(graph: Graph, tokens: Sequence[Sequence[int]]) -> dict[str, Range]:
    """The lowest and highest numbers that go into each product when some texts are embedded."""
    watched = list(dict.fromkeys(graph.places.values()))
    data = graph.model(encoder_graph.INPUTS, [encoder_graph.VECTOR, *watched], {})
    session = runtime.session(data, threads=processor.threads())
    met: dict[str, Range] = {}
    for ids in tokens:
        given = {encoder_graph.INPUTS[0]: np.array([ids], np.int64)}
        given[encoder_graph.INPUTS[1]] = np.zeros_like(given[encoder_graph.INPUTS[0]])
        values = dict(zip(watched, session.run(watched, given), strict=True))
        for place, name in graph.places.items():
            here = Range(values[name].min(axis=0), values[name].max(axis=0))
            met[place] = met[place] | here if place in met else here
    return met
