"""From a sentence encoder of torch to a folder with one ONNX file in bytes, its vectors compared."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from demur import __version__, processor, runtime, store
from demur.embedders.encoders.encoder import Encoder
from demur.embedders.encoders.loading import Recipe
from demur.embedders.encoders.network import Network, running
from demur.embedders.encoders.network import network as network_in
from demur.embedders.encoders.packaged import MODEL, TOKENIZER, packaged
from demur.errors import UsageError
from demur.export import encoder_graph
from demur.export.export import Exported, card, check_near, compared, some
from demur.export.graph import Graph, Range
from demur.rankers import Ranker, open_model
from demur.rankers.vectors.bi_encoder import BiEncoder
from demur.rankers.vectors.cosine import EncoderRanker
from demur.specs import Spec


@dataclass(frozen=True)
class Near:
    """How near the vectors of an exported encoder are to the network's own: cosines of the two."""

    texts: int
    mean: float
    least: float


def export(encoder: Encoder | BiEncoder, folder: Path, texts: Sequence[str], page: str = "") -> Near:
    """Write the encoder that comes with demur; `texts` are like those it will read, a third only compares."""
    if isinstance(encoder, BiEncoder):
        found = _trained(*encoder.fresh())
    else:
        found = network_in(encoder.folder, "fp32", "cpu")
    if not found.how.normalize:
        raise UsageError(
            "only an encoder that divides by the length can be exported like that; use it with torch"
        )
    shown, held = [text for n, text in enumerate(texts) if n % 3], list(texts[::3])
    length = found.length(encoder.max_length)
    graph, facts = _drawn(found, length, shown, "int8")
    with tempfile.TemporaryDirectory() as beside:
        inside = Path(beside) / "model"
        _write(inside, found, graph, facts, {})
        ours, _ = packaged(inside).sentences(held, length)
        theirs, _ = found.sentences(held, length)
    cosines = (ours * theirs).sum(axis=1)
    near = Near(len(held), float(cosines.mean()), float(cosines.min()))
    made: dict[str, Any] = {"from": encoder.fingerprint, "precision": "int8", "demur": __version__}
    _write(folder, found, graph, facts, made | {"agreement": asdict(near)}, page=page)
    return near


def export_ranker(
    ranker: BiEncoder | EncoderRanker, folder: Path, precision: str, calibrate: str
) -> Exported:
    """A sentence encoder as a folder of the ranker ``bi-encoder``, which needs no torch."""
    if isinstance(ranker, EncoderRanker):
        asker = ranker.of_questions
        if asker.prompt or ranker.of_answers.prompt:
            raise UsageError(
                f"{ranker.spec} puts a prompt before texts, which no file of ours does; use torch"
            )
        if asker.packaged:
            raise UsageError(f"{ranker.spec} needs no torch already; it can be used as it is")
        found = network_in(asker.folder, "fp32", "cpu")
        exact: Ranker = replace(ranker, precision="fp32", device="cpu")
    else:
        network, tokenizer = ranker.fresh()
        found = _trained(network, tokenizer)
        exact = replace(ranker, precision="fp32", device="cpu").holding(network, tokenizer)
    pools = some(calibrate)
    length = found.length(ranker.max_length)
    texts = list(dict.fromkeys(text for pool in pools for text in (pool.question, *pool.answers)))
    graph, facts = _drawn(found, length, texts, precision)
    with tempfile.TemporaryDirectory() as beside:
        inside = Path(beside) / "model"
        _write(inside, found, graph, facts, {})
        agreement = compared(exact, BiEncoder(folder=str(inside), max_length=length), pools, calibrate)
    if precision == "fp32":
        check_near(agreement, folder)
    made = {"from": ranker.fingerprint, "precision": precision, "graph": "demur", "demur": __version__}
    made |= store.learnt(ranker.folder if isinstance(ranker, BiEncoder) else "")
    spec = str(Spec(BiEncoder.name, {"max_length": length}))
    page = card(precision, agreement, "sentence encoder")
    _write(folder, found, graph, facts, made | {"agreement": asdict(agreement)}, spec, page)
    return Exported(folder, open_model(folder), precision, "demur", agreement)


def _trained(network: Any, tokenizer: Any) -> Network:
    """The network of a bi-encoder in floats."""
    return running(network.cpu().float().eval(), tokenizer, Recipe(Path(), normalize=True), "cpu")


def _drawn(found: Network, length: int, texts: Sequence[str], precision: str) -> tuple[Graph, dict[str, str]]:
    """The graph, scaled by some texts if in bytes, and what its file says of it."""
    if not encoder_graph.is_known(found.network):
        raise UsageError(
            f"only a BERT can be exported as an encoder, not a {type(found.network).__name__}; "
            "use it with torch"
        )
    if found.how.pooling != "mean":
        raise UsageError("only an encoder that takes means can be exported; use it with torch")
    graph, facts = encoder_graph.graph(found.network), {"precision": precision}
    if precision == "int8":
        tokens = [each.ids for each in found.encodings(texts, length)]
        graph = encoder_graph.graph(found.network, _seen(graph, tokens))
        facts[runtime.SAFE] = "safe"  # by onnx_graph.in_bytes
    sizes = {"width": found.width, "limit": length, "positions": found.positions}
    return graph, facts | {name: str(size) for name, size in sizes.items()}


def _write(
    folder: Path,
    found: Network,
    graph: Graph,
    facts: dict[str, str],
    made: dict[str, Any],
    spec: str = "encoder(model=packaged)",
    page: str = "",
) -> None:
    with store.saving(folder, spec, made) as place:
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
