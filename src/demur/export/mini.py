"""From mini's network to a folder with one ONNX file, compared with it before anything is kept."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from demur import __version__, runtime, store
from demur.errors import UsageError, require
from demur.export import mini_graph
from demur.export.bert_graph import INPUTS
from demur.export.export import Agreement, Exported, check_near, compared, folder_beside, seen, some
from demur.nets.readers.mini import Mini as Network
from demur.rankers import open_model
from demur.rankers.cross_encoders.cross_encoder import positions
from demur.rankers.cross_encoders.onnx import MODEL, TOKENIZER, Onnx
from demur.reading import confidence, squad
from demur.reading.published import golds
from demur.reading.readers.mini import OUTPUTS, Mini
from demur.reading.readers.mini_torch import MiniTorch
from demur.specs import Spec
from demur.types import Pool


@dataclass(frozen=True)
class Alike(Agreement):
    """Of quotes too: the share that are the same, and that of passages where both answer, or neither."""

    quotes: float = 0.0
    answered: float = 0.0

    @property
    def of_quotes(self) -> dict[str, float]:
        """The shares of passages where both quote the same, and where both quote or neither does."""
        return {"same quotes": self.quotes, "same whether there is an answer": self.answered}


def export(ranker: MiniTorch, folder: Path, precision: str, calibrate: str) -> Exported:
    """The network as a folder of the ranker ``mini``."""
    pools = some(calibrate)
    module, tokenizer = ranker.fresh()
    network = cast("Network", module.cpu().float().eval())
    if not mini_graph.is_known(network):
        raise UsageError(
            f"only a mini that is a BERT can be exported, not a {type(network.scorer).__name__}; "
            "use it with torch"
        )
    exact = dataclasses.replace(ranker, precision="fp32", device="cpu").holding(network, tokenizer)
    with folder_beside(folder, tokenizer) as inside:
        facts = {"precision": precision, "positions": str(positions(network))}
        facts |= {"probes": str(len(network.probes))}
        graph = mini_graph.graph(network)
        if precision == "int8":
            facts[runtime.SAFE] = "safe"  # by onnx_graph.in_bytes
            length = min(ranker.max_length, positions(network))
            graph = mini_graph.graph(network, seen(graph, Onnx(folder=str(inside), max_length=length), pools))
        (inside / MODEL).write_bytes(graph.model(INPUTS, OUTPUTS, facts))
        files = [MODEL, TOKENIZER]
        if ranker.confidence_model is not None:
            ranker.confidence_model.save(inside)
            files.append(confidence.FILE)
        spec = str(Spec(Mini.name, {name: getattr(ranker, name) for name in Mini.counted}))
        with store.saving(inside / "whole", spec) as place:  # complete, so that it can be compared
            for name in files:
                (inside / name).replace(place / name)
        found = cast("Mini", open_model(inside / "whole"))
        agreement = _compared(exact, found, pools, calibrate)
        if precision == "fp32":
            check_near(agreement, folder)
        made: dict[str, Any] = {"from": ranker.fingerprint, "precision": precision, "demur": __version__}
        with store.saving(folder, spec, made | {"agreement": asdict(agreement)}) as place:
            for name in files:
                (inside / "whole" / name).replace(place / name)
            (place / "README.md").write_text(_card(precision, agreement), "utf-8")
    return Exported(folder, open_model(folder), precision, "demur", agreement)


def tune_null(folder: Path, pools: Sequence[Pool]) -> float:
    """Take off the score of no answer what makes most readings of these questions right; say how much.

    Half of the questions that count have no answer, as nobody knows how many there will be.
    """
    onnx = require("onnx", extra="export")
    by_kind: tuple[list[Pool], list[Pool]] = [], []
    for pool in pools:
        by_kind[bool(golds(pool))].append(pool)
    some = [pool for kind in by_kind for pool in kind[: min(map(len, by_kind))]]
    readings = Mini(folder=str(folder)).read_all([(pool.question, pool.answers[0]) for pool in some])
    said = [each.quotes[0].span.text if each.quotes else "" for each in readings]
    found = squad.score(some, said)
    null = squad.best(found.exact, found, [each.null_odds for each in readings]).threshold
    known = store.open_folder(folder, check=False)
    texts = {name: (folder / name).read_bytes() for name in (*known.files, "README.md")}
    model = onnx.load_from_string(texts[MODEL])
    facts = {each.key: each.value for each in model.metadata_props}
    null = math.ceil(1000 * (null + float(facts.get("null", 0)))) / 1000
    onnx.helper.set_model_props(model, {**facts, "null": str(null)})
    texts[MODEL] = model.SerializeToString()
    with store.saving(folder, known.spec, known.made) as place:
        for name, content in texts.items():
            (place / name).write_bytes(content)
    return null


def _compared(exact: MiniTorch, found: Mini, pools: Sequence[Pool], named: str) -> Alike:
    pairs = list(dict.fromkeys((pool.question, text) for pool in pools for text in pool.answers))
    ours, theirs = found.looks(pairs), exact.looks(pairs)
    both = list(zip(ours, theirs, strict=True))
    return Alike(
        **asdict(compared(exact, found, pools, named)),
        quotes=float(np.mean([a.quote == b.quote for a, b in both])),
        answered=float(np.mean([(a.span is None) == (b.span is None) for a, b in both])),
    )


def _card(precision: str, near: Alike) -> str:
    return (
        f"# A mini in {precision}, without torch\n\n"
        f"Exported by demur {__version__}. On {near.pairs:,} pairs of `{near.data}` its scores agree with "
        f"the network's own with a rank correlation of {near.spearman:.4f}, and {near.quotes:.1%} of its "
        "quotes are the same.\n\n```python\nimport demur\n\n"
        'mini = demur.open("THIS FOLDER")\n'
        'for look in mini.look("a question", ["a passage", "another"]):\n'
        "    print(look.score, look.quote, look.confidence)\n```\n\n"
        "A gate that was made for the network is not this model's: make one with `demur calibrate`.\n"
    )
