"""A cross-encoder that was exported: one ONNX file, run on the CPU without torch."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from demur import runtime, store
from demur.errors import UsageError
from demur.files import sha256
from demur.rankers.base import Ranker
from demur.rankers.cross_encoders.pair_tokens import Pieces, pieces
from demur.rankers.cross_encoders.pairs import scored_once, warn_of_cut
from demur.specs import Spec
from demur.types import FloatArray, IntArray, Pool

FILES = MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
_BUDGET = 256  # tokens of a batch: all that is computed of it stays near the processor
_TOGETHER = 50_000  # pairs held as tokens


@dataclass(frozen=True)
class Onnx(Ranker):
    """A cross-encoder exported by ``demur export``: no torch, several times as fast on a CPU.

    Pairs of one length go together, none is padded, and bytes have fixed scales; so a score depends only on
    its own pair, except for the last digit of a float.
    """

    name: ClassVar[str] = "onnx"
    tolerance: ClassVar[float] = 1e-5
    folder: str = ""
    threads: int = 0  # 0 is as many as may be used, see demur.processor
    max_length: int = 256

    def __post_init__(self) -> None:
        if not self.folder:
            raise UsageError("an onnx ranker needs a folder; make one with demur export MODEL -o DIR")
        if self.threads < 0:
            raise UsageError(f"threads={self.threads} means nothing; use 1 or more, or 0 for all cores")
        if self.max_length < 16:
            raise UsageError(f"max_length={self.max_length} leaves no room for a pair; use 16 or more")

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool; a pair that stands there twice is scored once."""
        return scored_once(pools, self._scores, _TOGETHER)

    def _scores(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        model = _opened(self.folder, runtime.stamp(Path(self.folder), FILES))
        length = min(self.max_length, model.positions)
        found = pieces(model.tokenizer, pairs, length)
        warn_of_cut(found.cut, len(pairs), length, self.max_length)
        scores = np.empty(len(pairs))
        budget = 1 if model.alone else _BUDGET

        def run(batch: IntArray) -> None:
            scores[batch] = model.scores(found, batch)

        runtime.side_by_side(run, list(runtime.alike(found.lengths, budget)), self.threads)
        return scores

    def save_into(self, folder: Path) -> str:
        """The spec of the ranker whose files now lie in the folder too."""
        import shutil

        for name in FILES:
            shutil.copyfile(Path(self.folder) / name, folder / name)
        return str(Spec(self.name, {"max_length": self.max_length}))

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and the files, wherever they lie; threads change no score."""
        folder = Path(self.folder)
        kept = store.open_folder(folder, check=False).files if store.is_model(folder) else {}
        files = {name: kept.get(name) or sha256(folder / name) for name in FILES}
        return hashlib.sha256(f"{self.name} {self.max_length} {files}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class _Model:
    """What lies in a folder, ready to run."""

    session: Any
    tokenizer: Any
    inputs: tuple[str, ...]
    positions: int  # tokens that it reads at most
    alone: bool  # whether a pair's score depends on others of its batch, so that it must be one

    def scores(self, found: Pieces, batch: IntArray) -> FloatArray:
        """The scores of some pairs of one length."""
        tokens, kinds = found.batch(batch)
        known = {"input_ids": tokens, "token_type_ids": kinds, "attention_mask": np.ones_like(tokens)}
        scores: FloatArray = self.session.run(["score"], {name: known[name] for name in self.inputs})[0]
        return scores.reshape(-1)


@lru_cache(maxsize=2)
def _opened(folder: str, stamp: object) -> _Model:
    session = runtime.session(Path(folder) / MODEL)
    tokenizer = runtime.tokenizer(Path(folder) / TOKENIZER)
    facts = session.get_modelmeta().custom_metadata_map
    inputs = tuple(each.name for each in session.get_inputs())
    return _Model(session, tokenizer, inputs, int(facts.get("positions", 512)), facts.get("alone") == "yes")
