"""What models of Hugging Face's kind share here: where their weights lie, and how they are held and kept."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from demur import precision
from demur.embedders.encoders.loading import content, device_named, located, quietly
from demur.errors import DataError, require
from demur.specs import Spec

if TYPE_CHECKING:
    import torch

_Found = TypeVar("_Found")
_TOKENISERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model")


class Weights:
    """A part of a frozen dataclass: a network and its tokeniser, in a folder, by an id, or just trained."""

    name: ClassVar[str]
    kept: ClassVar[tuple[str, ...]]
    """The settings that a saved model keeps."""
    counted: ClassVar[tuple[str, ...]]
    """The settings that its fingerprint counts."""
    folder: str
    model: str
    precision: str
    device: str
    _held: tuple[torch.nn.Module, Any] | None

    @staticmethod
    def load(place: str) -> tuple[torch.nn.Module, Any]:
        """The network and the tokeniser that lie in a folder."""
        raise NotImplementedError

    def _network(self) -> tuple[torch.nn.Module, Any]:
        """The network, on its device and not to be changed, and its tokeniser."""
        if self._held is not None:
            return self._held
        return _loaded(type(self).load, str(self._weights()), device_named(self.device))

    def computed(self, compute: Callable[[], _Found]) -> _Found:
        """What a computation of the network gives in the model's precision, without gradients."""
        torch: Any = require("torch", extra="encoder")
        device = device_named(self.device)
        with torch.inference_mode():
            return precision.computed(compute, precision.taken(self.precision, device), device)

    def _weights(self) -> Path:
        """The folder in which the weights lie."""
        return Path(self.folder) if self.folder else located(self.model)

    def fresh(self) -> tuple[torch.nn.Module, Any]:
        """A copy of the network, to be trained, and its tokeniser."""
        if self._held is not None:
            return copy.deepcopy(self._held[0]), self._held[1]
        return type(self).load(str(self._weights()))

    def holding(self, network: torch.nn.Module, tokenizer: Any) -> Self:
        """The same model with this network, which lies in no folder yet."""
        settings: Any = {"model": self.model or "trained", "folder": ""}
        trained: Self = dataclasses.replace(self, **settings)  # type: ignore[type-var]  # a part of one
        object.__setattr__(trained, "_held", (network.eval(), tokenizer))  # the field that no caller may set
        return trained

    def save_into(self, folder: Path) -> str:
        """The spec of the model whose network and tokeniser now lie in the folder."""
        network, tokenizer = self._network()
        with quietly():
            getattr(network, "save_pretrained")(folder)  # noqa: B009  # a Hugging Face model's
            tokenizer.save_pretrained(folder)
        return str(Spec(self.name, {name: getattr(self, name) for name in self.kept}))

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and the weights, wherever they lie."""
        said = {name: getattr(self, name) for name in self.counted}
        said |= {"precision": precision.counted(self.precision)} if "precision" in said else {}
        settings = " ".join(map(str, said.values()))
        digest = hashlib.sha256(f"{self.name} {settings}".encode())
        if self._held is not None:
            for weights in self._held[0].state_dict().values():
                digest.update(weights.detach().cpu().contiguous().numpy().tobytes())
        else:
            digest.update(content(self._weights()).encode())
        return digest.hexdigest()[:16]


@lru_cache(maxsize=2)
def _loaded(
    load: Callable[[str], tuple[torch.nn.Module, Any]], place: str, device: str
) -> tuple[torch.nn.Module, Any]:
    network, tokenizer = load(place)
    return network.eval().to(device), tokenizer


def read_network(
    place: str, load: Callable[[str], torch.nn.Module], what: str
) -> tuple[torch.nn.Module, Any]:
    """The network and tokeniser in a folder of Hugging Face's form; `what` names it in errors."""
    transformers: Any = require("transformers", extra="encoder")
    if Path(place).is_dir() and not any((Path(place) / name).is_file() for name in _TOKENISERS):
        fix = "save the tokenizer there too"  # else transformers would make an empty one
        raise DataError(f"no {what} can be made of it: it has no tokenizer", path=place, fix=fix)
    with quietly():
        try:
            return load(place), transformers.AutoTokenizer.from_pretrained(place)
        except Exception as error:  # of many libraries: whatever it is, no such model can be made
            why = " ".join(str(error).split())[:160]
            fix = "name a Hugging Face encoder, or a model that demur trained"
            raise DataError(f"no {what} can be made of it ({why})", path=place, fix=fix) from None
