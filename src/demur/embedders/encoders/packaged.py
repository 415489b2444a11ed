"""Sentence encoders that run without torch: that which comes with demur, and those that were exported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import demur
from demur import runtime, store
from demur.embedders.base import Vectors
from demur.errors import DataError, UsageError
from demur.types import IntArray

FOLDER = Path(demur.__file__).parent / "models" / "encoder"
FILES = MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
_BUDGET = 256  # tokens of a batch: all that is computed of it stays near the processor
_TOGETHER = 4096  # texts held as tokens
_MARKS = 2  # tokens before and after each text


@dataclass(frozen=True)
class Packaged:
    """The model in a folder, ready to run."""

    session: Any
    tokenizer: Any
    width: int  # numbers of a vector
    limit: int  # tokens it reads unless told otherwise
    positions: int  # tokens it can read at most

    def length(self, wanted: int) -> int:
        """Where texts are cut, if `wanted` is the setting: 0 is where the model says."""
        if wanted and not _MARKS < wanted <= self.positions:
            what = f"max_length={wanted} does not suit the packaged encoder"
            raise UsageError(
                f"{what}, which takes {_MARKS + 1} to {self.positions} tokens; 0 is {self.limit}"
            )
        return wanted or self.limit

    def sentences(self, texts: Sequence[str], length: int) -> tuple[Vectors, int]:
        """The vector of each text, zeros where it has no token of its own, and how many texts were cut.

        Texts of one length go together and none is filled up, so a text's vector never depends on the others.
        """
        found, cut = np.zeros((len(texts), self.width), np.float32), 0
        for start in range(0, len(texts), _TOGETHER):
            tokens, too_long = self._tokens(texts[start : start + _TOGETHER], length)
            cut += too_long
            self._run(tokens, found[start : start + _TOGETHER])
        return found, cut

    def _tokens(self, texts: Sequence[str], length: int) -> tuple[list[list[int]], int]:
        ids = [each.ids for each in self.tokenizer.encode_batch_fast(list(texts))]
        cut = sum(len(each) > length for each in ids)
        return [each if len(each) <= length else [*each[: length - 1], each[-1]] for each in ids], cut

    def _run(self, tokens: list[list[int]], found: Vectors) -> None:
        """Fill in the vectors of texts that are given as tokens."""

        def run(batch: IntArray) -> None:
            ids = np.array([tokens[place] for place in batch.tolist()], np.int64)
            given = {"input_ids": ids, "token_type_ids": np.zeros_like(ids)}
            vectors = np.asarray(self.session.run(["vector"], given)[0], np.float64)
            found[batch] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)

        lengths = np.array([len(each) for each in tokens], np.int64)
        filled = np.flatnonzero(lengths > _MARKS)
        runtime.side_by_side(run, [filled[batch] for batch in runtime.alike(lengths[filled], _BUDGET)])


def there() -> bool:
    """Whether the model came with this copy of demur; a copy made from source alone may lack it."""
    return (FOLDER / MODEL).is_file()


def is_exported(folder: Path) -> bool:
    """Whether a folder holds an encoder that `demur export` wrote."""
    return all((folder / name).is_file() for name in (*FILES, store.FACTS)) and not any(
        (folder / name).is_file() for name in ("config.json", "modules.json")
    )


def packaged(folder: Path = FOLDER) -> Packaged:
    """The model in a folder, opened once until its files change."""
    if not (folder / MODEL).is_file():
        what, fix = "the encoder that comes with demur is missing", "install demur again, or use model=minilm"
        raise DataError(what, path=folder, fix=fix)
    return _opened(folder, runtime.stamp(folder, (*FILES, store.FACTS)))


def content(folder: Path = FOLDER) -> str:
    """A hash of the files that it is made of, as the folder says them."""
    files = store.open_folder(folder, check=False).files
    if missing := [name for name in FILES if name not in files]:
        what, fix = f"has no checksum of {missing[0]}", "export the encoder again, or copy its folder again"
        raise DataError(what, path=folder, fix=fix)
    return " ".join(f"{name} {files[name]}" for name in FILES)


@lru_cache(maxsize=2)
def _opened(folder: Path, stamp: object) -> Packaged:
    store.open_folder(folder)  # each file is checked against its checksum, once
    session = runtime.session(folder / MODEL)
    facts = session.get_modelmeta().custom_metadata_map
    try:
        sizes = [int(facts[name]) for name in ("width", "limit", "positions")]
    except (KeyError, ValueError):
        what, fix = "holds an ONNX file that is no encoder's", "name it as a ranker, without encoder(model=…)"
        raise DataError(what, path=folder, fix=fix) from None
    tokenizer = runtime.tokenizer(folder / TOKENIZER)
    tokenizer.encode_special_tokens = True  # words such as [SEP] are read as any others
    return Packaged(session, tokenizer, *sizes)
