"""From a network to a folder with one ONNX file, its scores compared before anything is kept."""

from __future__ import annotations

import dataclasses
import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demur import __version__, data, processor, runtime, store
from demur.errors import DataError, UsageError, require
from demur.export import bert_graph, torch_graph
from demur.export.graph import Graph, Range
from demur.files import written
from demur.rankers import Ranker, open_model
from demur.rankers.base import InFolder
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder, positions
from demur.rankers.cross_encoders.onnx import FILES, MODEL, TOKENIZER, Onnx
from demur.rankers.cross_encoders.pair_tokens import pieces
from demur.rankers.ensembles.committee import Committee
from demur.rankers.ensembles.fusion import Fusion
from demur.rankers.match_nets.match_nets import Match
from demur.rankers.vectors.bi_encoder import BiEncoder
from demur.rankers.vectors.cosine import EncoderRanker
from demur.reading.readers.mini_torch import MiniTorch
from demur.specs import Spec
from demur.types import Pool

if TYPE_CHECKING:
    import torch

EXAMPLE = "example/questions"
PRECISIONS = ("int8", "fp32")
_ENOUGH = 600  # pairs to calibrate on, and to compare
_OF_ONE = 8  # answers to one question among them
_BUDGET = 512  # tokens of a batch in calibration
NEAR = 1e-3
ALIKE = 0.95  # rank correlation below which bytes are no stand-in for floats

_log = logging.getLogger("demur")


@dataclass(frozen=True)
class Agreement:
    """How near an exported ranker's scores are to the network's own, on texts that were looked at."""

    data: str
    pairs: int
    spearman: float
    largest: float  # difference of two scores
    mean: float
    spread: float  # standard deviation of the scores

    @property
    def of_quotes(self) -> dict[str, float]:
        """Of readers, by what is compared: in what share of passages both quote the same."""
        return {}


@dataclass(frozen=True)
class Exported:
    """A folder that needs no torch, and how near its scores are."""

    folder: Path
    ranker: Ranker
    precision: str
    graph: str  # by whom it was written: demur or torch
    agreement: Agreement


@contextmanager
def folder_beside(folder: Path, tokenizer: Any) -> Iterator[Path]:
    """A folder for the time of the export, with the tokenizer in it, on the disk of the one to be made."""
    with written(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent)
    with temporary as beside:
        keep_tokenizer(tokenizer, Path(beside))
        yield Path(beside)


def export(ranker: Ranker, folder: str | Path, precision: str = "", calibrate: str = EXAMPLE) -> Exported:
    """A network as a folder that needs no torch; `calibrate` names texts like those to be scored.

    The `precision` of transformers is int8, if it is not said; that of nets which match words fp32.
    """
    if precision not in ("", *PRECISIONS):
        raise UsageError(f"precision={precision!r} is not known; use int8 or fp32")
    folder = store.free(folder)
    if isinstance(ranker, InFolder) and ranker.folder and folder.resolve() == Path(ranker.folder).resolve():
        raise UsageError(f"{folder} holds the network itself, which would be lost; name another folder")
    if isinstance(ranker, Match | Committee | Fusion):
        from demur.export import match_nets

        return match_nets.export(ranker, folder, precision, calibrate)
    if isinstance(ranker, MiniTorch):
        from demur.export import mini as mini_export

        return mini_export.export(ranker, folder, precision or "int8", calibrate)
    if isinstance(ranker, BiEncoder | EncoderRanker):
        from demur.export import encoder as encoder_export

        return encoder_export.export_ranker(ranker, folder, precision or "int8", calibrate)
    if ranker.name in ("mini", "onnx", "onnx-match"):
        raise UsageError(f"{ranker.spec} runs without torch as it is; copy its folder, or name another model")
    if not isinstance(ranker, CrossEncoder):
        known = "cross-encoder, sentence encoder, mini-torch, net that matches words"
        what = f"{ranker.spec} is not a {known}, or several of such"
        raise UsageError(f"{what}, and only those can be exported; demur train --base minilm makes one")
    if not ranker.alone:  # the file would score each pair by itself
        what = f"{ranker.name} reads an answer beside others of its pool, which no file of ours can"
        raise UsageError(f"{what}; use it with torch, or export a cross-encoder")
    precision = precision or "int8"
    pools = some(calibrate)
    network, tokenizer = ranker.fresh()
    network = network.cpu().float().eval()
    exact = dataclasses.replace(ranker, precision="fp32", device="cpu").holding(network, tokenizer)
    with folder_beside(folder, tokenizer) as inside:
        length = min(ranker.max_length, positions(network))
        found = Onnx(folder=str(inside), max_length=length)
        by = _write(network, tokenizer, found, pools, precision)
        agreement = compared(exact, found, pools, calibrate)
        if precision == "fp32":
            check_near(agreement, folder)
        elif agreement.spearman < ALIKE:
            _log.warning(
                "in int8 the scores rank otherwise than the network's (rank correlation "
                f"{agreement.spearman:.3f} on {calibrate}); use --precision fp32, or name texts like yours "
                "with --calibrate"
            )
        made: dict[str, Any] = {
            "from": ranker.fingerprint,
            "precision": precision,
            "graph": by,
            "demur": __version__,
        }
        made |= {"agreement": asdict(agreement), **store.learnt(ranker.folder)}
        with store.saving(folder, str(Spec(found.name, {"max_length": length})), made) as place:
            for name in FILES:
                (inside / name).replace(place / name)
            (place / "README.md").write_text(card(precision, agreement), "utf-8")
    return Exported(folder, open_model(folder), precision, by, agreement)


def some(named: str) -> list[Pool]:
    """The first pools of some data, a few answers of each: about as many pairs as are needed."""
    pools: list[Pool] = []
    for number, pool in enumerate(data.stream(named)):
        step = -(-len(pool) // _OF_ONE) or 1
        pools.append(dataclasses.replace(pool, candidates=pool.candidates[number % step :: step]))
        if sum(map(len, pools)) >= _ENOUGH:
            break
    if sum(map(len, pools)) < 2:
        raise DataError("holds no two answers to calibrate on", path=named, fix="name other data")
    return pools


def keep_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Write a tokenizer into a folder, as the tokenizers library reads it."""
    fast = getattr(tokenizer, "backend_tokenizer", None)
    if fast is None or not hasattr(fast, "save"):
        what = f"the model's tokenizer ({type(tokenizer).__name__}) is not one of the tokenizers library"
        raise DataError(what, fix="use the model with torch instead")
    fast.save(str(folder / TOKENIZER))


def _write(
    network: torch.nn.Module, tokenizer: Any, found: Onnx, pools: Sequence[Pool], precision: str
) -> str:
    """Write model.onnx; who drew the graph comes back."""
    path = Path(found.folder) / MODEL
    facts = {"precision": precision, "positions": str(positions(network)), "alone": "no"}
    if precision == "int8":
        facts[runtime.SAFE] = "safe"  # by onnx_graph.in_bytes
    if bert_graph.is_bert(network):
        graph = bert_graph.graph(network)
        if precision == "int8":
            graph = bert_graph.graph(network, seen(graph, found, pools))
        path.write_bytes(_file(graph, ["score"], facts))
        return "demur"
    inputs = ["input_ids", "attention_mask"]
    if "token_type_ids" in tokenizer.model_input_names:
        inputs.append("token_type_ids")
    torch_graph.write_graph(network, inputs, path)
    if precision == "int8":  # scales come from the batch, so each pair must be one
        torch_graph.to_bytes(path)
        facts["alone"] = "yes"
    torch_graph.tell(path, facts)
    return "torch"


def _file(graph: Graph, outputs: list[str], facts: Mapping[str, str]) -> bytes:
    try:
        return graph.model(bert_graph.INPUTS, outputs, facts)
    except ValueError as error:
        what = f"the network is too large for one ONNX file ({' '.join(str(error).split())[:100]})"
        raise DataError(what, fix="use it with torch instead") from None


def seen(graph: Graph, ranker: Onnx, pools: Sequence[Pool]) -> dict[str, Range]:
    """The lowest and highest numbers that go into each product when some pairs are scored."""
    tokenizer = require("tokenizers", extra="export").Tokenizer.from_file(f"{ranker.folder}/{TOKENIZER}")
    tokenizer.no_truncation()
    pairs = list(dict.fromkeys((pool.question, answer) for pool in pools for answer in pool.answers))
    found = pieces(tokenizer, pairs, ranker.max_length)
    watched = list(dict.fromkeys(graph.places.values()))
    session = runtime.session(_file(graph, ["score", *watched], {}), threads=processor.threads())
    met: dict[str, Range] = {}
    for batch in runtime.alike(found.lengths, _BUDGET):
        given = dict(zip(bert_graph.INPUTS, found.batch(batch), strict=True))
        values = dict(zip(watched, session.run(watched, given), strict=True))
        for place, name in graph.places.items():
            here = Range(values[name].min(axis=0), values[name].max(axis=0))
            met[place] = met[place] | here if place in met else here
    return met


def compared(exact: Ranker, found: Ranker, pools: Sequence[Pool], named: str) -> Agreement:
    """How near the scores of two rankers are."""
    from scipy.stats import rankdata

    log = logging.getLogger("demur")
    before = log.level
    log.setLevel(logging.ERROR)  # it is known that texts of the example are cut
    try:
        ours, theirs = (np.concatenate(ranker.score_pools(pools)) for ranker in (found, exact))
    finally:
        log.setLevel(before)
    gap = np.abs(ours - theirs)
    different = np.ptp(ours) > 0 and np.ptp(theirs) > 0
    near = float(np.corrcoef(rankdata(ours), rankdata(theirs))[0, 1]) if different else 1.0
    return Agreement(named, len(gap), near, float(gap.max()), float(gap.mean()), float(theirs.std()))


def check_near(agreement: Agreement, folder: Path) -> None:
    """Raise an error that says how far the scores in floats are off, if they are not the network's own."""
    if not agreement.largest <= NEAR:
        what = f"a score of the exported model is off by {agreement.largest:.2g}, so nothing was written"
        raise DataError(what, path=folder, fix="use the network with torch, and tell us which it is")


def card(precision: str, near: Agreement, what: str = "cross-encoder") -> str:
    """The page of an exported folder."""
    return (
        f"# A {what} in {precision}, without torch\n\n"
        f"Exported by demur {__version__}. On {near.pairs:,} pairs of `{near.data}` its scores agree with "
        f"the network's own with a rank correlation of {near.spearman:.4f}; they differ by {near.mean:.3g} "
        f"in the mean and {near.largest:.3g} at most, where scores have a standard deviation of "
        f"{near.spread:.3g}.\n\n```python\nimport demur\n\n"
        'ranker = demur.open("THIS FOLDER")\n'
        'ranking = ranker.rank("a question", ["an answer", "another"])\n```\n\n'
        "It needs no extra of demur. A gate that was made for the network is not this model's: "
        "make one with `demur calibrate`.\n"
    )
