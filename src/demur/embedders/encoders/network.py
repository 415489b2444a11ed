"""A network that runs: texts become tokens, batches of them go through it, and their vectors are pooled."""

from __future__ import annotations

import copy
import inspect
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from demur import precision
from demur.embedders.base import Vectors
from demur.embedders.encoders.loading import Recipe, device_named, quietly, recipe, stamps, together
from demur.errors import DataError, UsageError, require
from demur.types import IntArray

_TOGETHER = 8192  # texts held as tokens
_MOST = 65_536  # tokens that a GPU is given at once
_ENDLESS = 1 << 20  # tokens, where neither model nor tokeniser sets a limit
_tokenising = threading.Lock()


@dataclass(frozen=True, eq=False)
class Network:
    """A network with its tokeniser, on its device."""

    how: Recipe
    network: Any  # texts × tokens -> texts × tokens × width
    tokenizer: Any  # of the library tokenizers, a copy of our own
    cut_side: str
    padding: int
    typed: bool  # whether the network is told which sentence a token is of
    positions: int  # the most tokens it can take
    limit: int  # the most it takes unless told otherwise
    device: str

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self.network.config.hidden_size)

    def length(self, wanted: int) -> int:
        """Where texts are cut, if `wanted` is the setting: 0 is where the model says."""
        least = self.tokenizer.num_special_tokens_to_add(False) + 1
        if wanted and not least <= wanted <= self.positions:
            raise UsageError(
                f"max_length={wanted} does not suit the model in {self.how.folder}, which takes {least} to "
                f"{self.positions} tokens; use one of these, or 0 for the {self.limit} that it says"
            )
        return wanted or self.limit

    def encodings(self, texts: Sequence[str], length: int) -> list[Any]:
        """The tokens of each text, no more than so many, with their places in it."""
        with _tokenising:  # as the length is a state of the tokeniser
            self.tokenizer.enable_truncation(length, direction=self.cut_side)
            found: list[Any] = self.tokenizer.encode_batch(list(texts))
        return found

    def outputs(self, encodings: Sequence[Any]) -> Iterator[tuple[list[int], Any, Any]]:
        """Batches: which texts these are, the vectors of their tokens, and a 1 for each that is no padding.

        Texts without a token of their own are left out. Texts of like length go together, whatever the order
        they came in.
        """
        torch: Any = require("torch", extra="encoder")
        ids = [each.ids for each in encodings]
        order = [n for n, each in enumerate(encodings) if not all(each.special_tokens_mask)]
        order.sort(key=lambda n: (-len(ids[n]), ids[n]))
        for chosen in _batches(order, [len(ids[n]) for n in order], together(self.device, _MOST)):
            arrays = {
                "input_ids": _padded([ids[n] for n in chosen], self.padding),
                "attention_mask": _padded([[1] * len(ids[n]) for n in chosen], 0),
            }
            if self.typed:
                arrays["token_type_ids"] = _padded([encodings[n].type_ids for n in chosen], 0)
            inputs = {name: torch.from_numpy(array).to(self.device) for name, array in arrays.items()}
            with torch.inference_mode():
                hidden = self.network(**inputs).last_hidden_state  # texts × tokens × width
                yield chosen, hidden.float(), inputs["attention_mask"]

    def sentences(self, texts: Sequence[str], length: int) -> tuple[Vectors, int]:
        """The vector of each text, zeros where it has no token of its own, and how many texts were cut."""
        found, cut = np.zeros((len(texts), self.width), np.float32), 0
        for start in range(0, len(texts), _TOGETHER):
            encodings = self.encodings(texts[start : start + _TOGETHER], length)
            cut += sum(bool(each.overflowing) for each in encodings)
            for chosen, hidden, mask in self.outputs(encodings):
                found[start + np.array(chosen)] = _pooled(hidden, mask, self.how).cpu().numpy()
        return found, cut


def _batches(order: Sequence[int], lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """The texts in this order, longest first, in batches of at most `budget` tokens, or of one text."""
    start = 0
    while start < len(order):
        end = start + max(1, budget // lengths[start])
        yield list(order[start:end])
        start = end


def _padded(rows: Sequence[Sequence[int]], padding: int) -> IntArray:
    """The rows as one array, filled up on the right."""
    filled = np.full((len(rows), max(map(len, rows))), padding, np.int64)
    for place, row in enumerate(rows):
        filled[place, : len(row)] = row
    return filled


def _pooled(hidden: Any, mask: Any, how: Recipe) -> Any:
    """One vector per text, from those of its tokens."""
    if how.pooling == "cls":
        vectors = hidden[:, 0]
    else:
        weights = mask.unsqueeze(-1).to(hidden.dtype)  # texts × tokens × 1
        vectors = (hidden * weights).sum(1) / weights.sum(1)
    if how.normalize:
        vectors = vectors / vectors.norm(dim=1, keepdim=True).clamp(min=1e-12)
    return vectors  # texts × width


def network(folder: Path, taken: str, device: str) -> Network:
    """The network in a folder, in a precision; the last few are kept, until their files change."""
    return _loaded(folder, taken, device_named(device), stamps(folder))


@lru_cache(maxsize=4)
def _loaded(folder: Path, taken: str, device: str, stamp: object) -> Network:
    how = recipe(folder)
    model, tokenizer = read(how.folder)
    return running(_cast(model.eval().to(device), taken), tokenizer, how, device)


def running(model: Any, tokenizer: Any, how: Recipe, device: str) -> Network:
    """A model that lies on its device already, ready to make vectors of texts."""
    if model.config.model_type in _POOLERS:
        model.pooler = None  # nothing is done with what it makes
    positions = _positions(model)
    return Network(
        how,
        network=model,
        tokenizer=_own(tokenizer),
        cut_side=tokenizer.truncation_side,
        padding=int(tokenizer.pad_token_id or 0),
        typed="token_type_ids" in tokenizer.model_input_names
        and "token_type_ids" in inspect.signature(model.forward).parameters,
        positions=positions,
        limit=min(positions, how.max_length or int(tokenizer.model_max_length)),
        device=device,
    )


def _cast(model: Any, taken: str) -> Any:
    """The network with its weights in this precision, or in fp32 where torch lacks it for a layer."""
    torch: Any = require("torch", extra="encoder")
    if taken == "fp32":
        return model.float()
    cast = copy.deepcopy(model).to(precision.dtype(taken))
    try:
        with torch.inference_mode():
            cast(input_ids=torch.ones((1, 2), dtype=torch.long, device=model.device))
    except RuntimeError as error:
        if precision.not_of_precision(error):
            raise
        precision.missing(taken)
        return model.float()
    return cast


_POOLERS = ("bert", "electra", "mpnet", "roberta", "xlm-roberta")  # networks that can do without their pooler


def read(folder: Path) -> tuple[Any, Any]:
    """The network in a folder, and its tokeniser."""
    transformers: Any = require("transformers", extra="encoder")
    torch: Any = require("torch", extra="encoder")
    fix = "name another model, or save this one again with save_pretrained"
    if not any(folder.glob("*.safetensors")):
        raise DataError("holds no *.safetensors, and pickled weights are not read", path=folder, fix=fix)
    only_here = {"local_files_only": True, "trust_remote_code": False}
    try:
        with quietly(), torch.random.fork_rng(devices=[]):  # what lacks is drawn, before it is refused
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **only_here)
            model, report = transformers.AutoModel.from_pretrained(
                folder, use_safetensors=True, output_loading_info=True, **only_here
            )
    except Exception as error:  # of many libraries: whatever it is, this model cannot be used
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"cannot be loaded as an encoder ({why})", path=folder, fix=fix) from error
    lacking = sorted(name for name in report["missing_keys"] if "pooler" not in name)
    if lacking:
        what = f"lacks {len(lacking)} of its network's weights, such as {lacking[0]}"
        raise DataError(what, path=folder, fix=fix)
    if not tokenizer.is_fast:
        raise DataError("has no tokenizer.json, and none can be made of what it has", path=folder, fix=fix)
    return model, tokenizer


def _own(tokenizer: Any) -> Any:
    """A copy of the tokeniser that fills nothing up."""
    from tokenizers import Tokenizer

    copied = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    copied.no_padding()
    return copied


def _positions(model: Any) -> int:
    """The most tokens that a network can take."""
    torch: Any = require("torch", extra="encoder")
    for module in model.modules():
        places = getattr(module, "position_embeddings", None)
        if isinstance(places, torch.nn.Embedding):
            unused = 0 if places.padding_idx is None else places.padding_idx + 1
            return int(places.num_embeddings - unused)
    said = getattr(model.config, "max_position_embeddings", None)
    return said if isinstance(said, int) and said > 0 else _ENDLESS
