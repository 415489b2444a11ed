"""A ranker that reads question and answer together: slower than vectors of each, and more exact."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from demur.embedders.encoder_loading import content, device_named, located, quietly
from demur.errors import DataError, UsageError, require
from demur.rankers.base import Ranker
from demur.rankers.pairs import Pairs, by_length, tokenised
from demur.specs import Spec
from demur.types import FloatArray, Pool

if TYPE_CHECKING:
    import torch

_BUDGET = 8192  # tokens of a batch
_TOGETHER = 200_000  # pairs held as tokens
_COUNT_FROM_PADDING = ("roberta", "xlm-roberta", "camembert", "mpnet", "longformer")
_TOKENISERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model")
_log = logging.getLogger("demur")


@dataclass(frozen=True)
class CrossEncoder(Ranker):
    """A cross-encoder: one that was trained (`folder`), or any sequence classifier with one output."""

    name: ClassVar[str] = "cross-encoder"
    tolerance: ClassVar[float] = 1e-5
    alone: ClassVar[bool] = True
    folder: str = ""
    model: str = ""
    max_length: int = 256
    precision: str = "fp32"
    device: str = "auto"
    _held: tuple[torch.nn.Module, Any] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.folder and not self.model:
            fix = "train one with demur train, or name a sequence classifier with model=ID or a folder"
            raise UsageError(f"a cross-encoder needs weights; {fix}")
        if self.precision not in ("fp32", "bf16"):
            raise UsageError(f"precision={self.precision!r} is not known; use precision=fp32 or bf16")
        if self.max_length < 16:
            raise UsageError(f"max_length={self.max_length} leaves no room for a pair; use 16 or more")

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool; a pair that stands there twice is scored once."""
        arrays: list[FloatArray] = []
        stretch: list[Pool] = []
        for pool in pools:
            stretch.append(pool)
            if sum(map(len, stretch)) >= _TOGETHER:
                arrays += self._scored(stretch)
                stretch = []
        return arrays + self._scored(stretch)

    def _scored(self, pools: Sequence[Pool]) -> list[FloatArray]:
        places = {pair: n for n, pair in enumerate(dict.fromkeys(_pairs(pools)))}
        if not places:
            return [np.empty(0) for _ in pools]
        scores = self._scores([Pool.of(question, [answer]) for question, answer in places])
        return [
            scores[[places[pool.question, text] for text in pool.answers]] if len(pool) else np.empty(0)
            for pool in pools
        ]

    def _scores(self, singles: Sequence[Pool]) -> FloatArray:
        network, tokenizer = self._network()
        length = min(self.max_length, positions(network))
        pairs = tokenised(tokenizer, singles, length)
        if pairs.cut:
            more = "; set max_length" if length == self.max_length else ", all that the network can read"
            _log.warning(f"{pairs.cut:,} of {len(singles):,} pairs were cut at {length} tokens{more}")
        return self.read(network, pairs)

    def read(self, network: torch.nn.Module, pairs: Pairs) -> FloatArray:
        """What the network says of pairs that are tokens already."""
        torch = require("torch", extra="encoder")
        from demur.nets.cross_encoder import score

        found = np.empty(len(pairs.lengths))
        device = device_named(self.device)
        casting = torch.autocast(device, torch.bfloat16, enabled=self.precision == "bf16")
        with torch.inference_mode(), casting:
            for batch in by_length(pairs.lengths, _BUDGET):
                found[batch] = score(network, pairs.batch(batch, device)).cpu().numpy()
        return found

    def _network(self) -> tuple[torch.nn.Module, Any]:
        if self._held is not None:
            return self._held
        return _loaded(str(self._weights()), device_named(self.device))

    def _weights(self) -> Path:
        return Path(self.folder) if self.folder else located(self.model)

    def fresh(self) -> tuple[torch.nn.Module, Any]:
        """A copy of the network, to be trained, and its tokeniser."""
        import copy

        if self._held is not None:
            return copy.deepcopy(self._held[0]), self._held[1]
        return _load(str(self._weights()))

    def holding(self, network: torch.nn.Module, tokenizer: Any) -> Self:
        """The same ranker with this network, which lies in no folder yet."""
        trained = dataclasses.replace(self, model=self.model or "trained", folder="")
        object.__setattr__(trained, "_held", (network.eval(), tokenizer))  # the field that no caller may set
        return trained

    def save_into(self, folder: Path) -> str:
        """The spec of the ranker whose network and tokeniser now lie in the folder."""
        network, tokenizer = self._network()
        with quietly():
            getattr(network, "save_pretrained")(folder)  # noqa: B009  # a Hugging Face model's
            tokenizer.save_pretrained(folder)
        kept = ("max_length", "precision", "device")
        return str(Spec(self.name, {name: getattr(self, name) for name in kept}))

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and the weights, wherever they lie."""
        digest = hashlib.sha256(f"{self.name} {self.max_length} {self.precision}".encode())
        if self._held is not None:
            for weights in self._held[0].state_dict().values():
                digest.update(weights.detach().cpu().contiguous().numpy().tobytes())
        else:
            digest.update(content(self._weights()).encode())
        return digest.hexdigest()[:16]


def positions(network: torch.nn.Module) -> int:
    """How many tokens a network can read at most."""
    config: Any = getattr(network, "config", None)
    # those of RoBERTa's kind count their positions from behind the padding's number
    lost = int(config.pad_token_id or 0) + 1 if config.model_type in _COUNT_FROM_PADDING else 0
    return int(getattr(config, "max_position_embeddings", 1 << 20)) - lost


def _pairs(pools: Sequence[Pool]) -> list[tuple[str, str]]:
    return [(pool.question, answer) for pool in pools for answer in pool.answers]


@lru_cache(maxsize=2)
def _loaded(place: str, device: str) -> tuple[torch.nn.Module, Any]:
    network, tokenizer = _load(place)
    return network.eval().to(device), tokenizer


def _load(place: str) -> tuple[torch.nn.Module, Any]:
    transformers: Any = require("transformers", extra="encoder")
    from demur.nets.cross_encoder import load

    if Path(place).is_dir() and not any((Path(place) / name).is_file() for name in _TOKENISERS):
        fix = "save the tokenizer there too"  # else transformers would make an empty one
        raise DataError("no cross-encoder can be made of it: it has no tokenizer", path=place, fix=fix)
    with quietly():
        try:
            return load(place), transformers.AutoTokenizer.from_pretrained(place)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            why = " ".join(str(error).split())[:160]
            fix = "name a Hugging Face encoder, or a model that demur trained"
            raise DataError(f"no cross-encoder can be made of it ({why})", path=place, fix=fix) from None
