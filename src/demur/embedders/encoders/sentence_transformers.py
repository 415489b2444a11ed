"""Encoders that take more than a network and a mean: sentence-transformers runs them as it would itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from demur import precision
from demur.embedders.base import Vectors
from demur.embedders.encoders.loading import device_named, quietly, stamps
from demur.errors import DataError, require


@dataclass(frozen=True, eq=False)
class Whole:
    """A model of sentence-transformers, on its device."""

    model: Any
    width: int

    def sentences(self, texts: Sequence[str], prompt: str) -> tuple[Vectors, int]:
        """The vector of each text, and how many texts were cut."""
        vectors = np.asarray(
            self.model.encode(list(texts), prompt=prompt or None, show_progress_bar=False), np.float32
        )
        return vectors, self._cut([prompt + text for text in texts])

    @property
    def limit(self) -> int:
        """Where texts are cut; 0 where nothing says it."""
        return int(self.model.max_seq_length or 0)

    def _cut(self, texts: list[str]) -> int:
        from transformers import PreTrainedTokenizerBase

        tokenizer = self.model.tokenizer
        if not self.limit or not isinstance(tokenizer, PreTrainedTokenizerBase):
            return 0
        with quietly():
            found: Any = tokenizer(texts, truncation=False, padding=False)["input_ids"]
        return sum(len(ids) > self.limit for ids in found)


def sentence_transformer(folder: Path, taken: str, device: str, max_length: int) -> Whole:
    """The model in a folder; the last few are kept, until their files change."""
    return _loaded(folder, taken, device_named(device), max_length, stamps(folder))


@lru_cache(maxsize=2)
def _loaded(folder: Path, taken: str, device: str, max_length: int, stamp: object) -> Whole:
    torch: Any = require("torch", extra="encoder")
    fix = "name another model, or save this one again with its save()"
    with quietly():  # its import warns too
        library: Any = require("sentence_transformers", extra="encoder")
    try:
        with quietly(), torch.random.fork_rng(devices=[]):
            model = library.SentenceTransformer(
                str(folder), device=device, local_files_only=True, model_kwargs={"use_safetensors": True}
            )
            model = model.eval().to(precision.dtype(taken))
            if max_length:
                model.max_seq_length = max_length
            width = len(model.encode("a", show_progress_bar=False))
    except Exception as error:  # of many libraries: whatever it is, this model cannot be used
        if taken != "fp32":  # unless a layer cannot be computed so
            whole = _loaded(folder, "fp32", device, max_length, stamp)
            precision.missing(taken)
            return whole
        why = " ".join(str(error).split())[:200] or type(error).__name__
        what = f"cannot be loaded by sentence-transformers ({why})"
        raise DataError(what, path=folder, fix=fix) from error
    return Whole(model, width)
