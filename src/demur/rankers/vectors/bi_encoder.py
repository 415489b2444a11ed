"""The cosine of a sentence encoder that was trained here, from the folder in which it lies or just made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from demur import precision
from demur.embedders.base import Embedder, Tokens, Vectors
from demur.embedders.caching import cached_if_asked, cached_in_memory
from demur.embedders.encoders import packaged
from demur.embedders.encoders.encoder import Encoder
from demur.embedders.encoders.loading import Recipe, device_named, recipe
from demur.errors import UsageError
from demur.rankers.base import Ranker
from demur.rankers.cross_encoders.weights import Weights
from demur.rankers.vectors.cosine import cosines
from demur.types import FloatArray, Pool

if TYPE_CHECKING:
    import torch

    from demur.embedders.encoders.network import Network


@dataclass(frozen=True)
class BiEncoder(Weights, Ranker):
    """A trained sentence encoder; its folder is one of Hugging Face, and ``encoder(model=DIR)`` takes it too.

    What `demur export` makes of it needs no torch. A text's vector is the mean of its tokens' vectors. It is
    cut at `max_length` tokens (0: where the model says).
    """

    name: ClassVar[str] = "bi-encoder"
    tolerance: ClassVar[float] = 1e-5
    alone: ClassVar[bool] = True
    kept: ClassVar[tuple[str, ...]] = ("max_length", "precision", "device")
    counted: ClassVar[tuple[str, ...]] = ("max_length", "precision")
    folder: str = ""
    model: str = ""
    max_length: int = 0
    precision: str = "auto"
    device: str = "auto"
    _held: tuple[torch.nn.Module, Any] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.folder and not self.model:
            fix = "train one with demur train, or take encoder(model=ID) for one that is trained"
            raise UsageError(f"a bi-encoder needs weights; {fix}")
        precision.check(self.precision)
        if self.max_length < 0:
            raise UsageError(f"max_length={self.max_length} cuts everything; use 0 for what the model says")

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool, 0 where a text is empty."""
        encoder = self.embedder
        return cosines(pools, cached_in_memory(encoder) if len(pools) == 1 else cached_if_asked(encoder))

    @property
    def embedder(self) -> Embedder:
        """What makes the vectors."""
        if self._held is not None:
            return _Held(self)
        return Encoder(str(self._weights()), "", self.max_length, self.precision, self.device)

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and the weights, wherever they lie."""
        exported = bool(self.folder) and packaged.is_exported(Path(self.folder))
        return self.embedder.fingerprint if exported else super().fingerprint

    @staticmethod
    def load(place: str) -> tuple[torch.nn.Module, Any]:
        """The network and the tokeniser that lie in a folder."""
        from demur.embedders.encoders.network import read

        if packaged.is_exported(Path(place)):
            raise UsageError(f"{place} was exported and cannot learn; name the folder it was exported from")
        how = recipe(Path(place))
        if how.pooling != "mean":
            what = f"{place} makes its vectors otherwise than by the mean of a text's token vectors"
            raise UsageError(f"{what}, which is what a bi-encoder learns; start from another model")
        found: tuple[torch.nn.Module, Any] = read(how.folder)
        return found


@dataclass(frozen=True)
class _Held(Embedder):
    """What a bi-encoder makes of texts whose network lies in no folder yet."""

    name: ClassVar[str] = "held"
    of: BiEncoder

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return self._running().width

    @property
    def fingerprint(self) -> str:
        """The bi-encoder's own."""
        return self.of.fingerprint

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        network = self._running()
        return self.of.computed(lambda: network.sentences(list(texts), network.length(self.of.max_length)))[0]

    def tokens(self, texts: Sequence[str], words: str = "content") -> Tokens:
        """Vectors of words are asked of the encoder in the folder."""
        raise UsageError("this bi-encoder lies in no folder yet; save it, and take encoder(model=DIR)")

    def _running(self) -> Network:
        from demur.embedders.encoders.network import running

        how = Recipe(Path(), normalize=True)
        return running(*self.of._network(), how, device_named(self.of.device))
