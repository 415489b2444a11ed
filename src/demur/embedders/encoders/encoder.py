"""A text as what a sentence encoder makes of it: any of sentence-transformers or Hugging Face."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from demur import precision
from demur.embedders.base import Embedder, Tokens, Vectors
from demur.embedders.encoders import packaged as encoder_packaged
from demur.embedders.encoders.loading import (
    MINILM,
    PACKAGED,
    Recipe,
    content,
    device_named,
    located,
    recipe,
)
from demur.errors import DataError, UsageError

if TYPE_CHECKING:
    from demur.embedders.encoders.network import Network
    from demur.embedders.encoders.sentence_transformers import Whole

_DEVICES = "auto", "cpu", "cuda"
_log = logging.getLogger("demur")
_REMEMBERED = 1_000  # cut texts of which it was said
_said: set[tuple[str, int, int]] = set()  # of which models it was said that they cut texts, where, and which


@dataclass(frozen=True)
class Encoder(Embedder):
    """The vector that a sentence encoder gives a text; zeros for a text of nothing.

    `model` is ``packaged`` (all-MiniLM-L6-v2 taught further, int8, which comes with demur and needs no
    torch), ``minilm`` (all-MiniLM-L6-v2 as it was, in floats, with ``demur[encoder]``), ``mpnet``
    (all-mpnet-base-v2, five times as large, downloaded once), a folder, which needs no torch either if `demur
    export` wrote it, or a Hugging Face id, then at its `revision`. It is used as sentence-transformers would
    use it; a plain network's token vectors are averaged. Texts are cut at `max_length` tokens (0: where the
    model says). `prompt` stands before every text (empty: what the model says). With ``precision=auto`` the
    network computes in half precision where that is faster by half: scores move in their third digit.
    ``fp32`` is exact.
    """

    name: ClassVar[str] = "encoder"
    model: str = MINILM
    revision: str = ""
    max_length: int = 0
    precision: str = "auto"
    device: str = "auto"
    prompt: str = ""

    def __post_init__(self) -> None:
        precision.check(self.precision)
        if self.device not in _DEVICES:
            raise UsageError(f"device={self.device} of an encoder must be one of {', '.join(_DEVICES)}")
        if not self.model:
            raise UsageError(f"an encoder needs a model: {MINILM}, a folder, or a Hugging Face id")
        if self.max_length < 0:
            raise UsageError(f"max_length={self.max_length} cuts everything; use 0 for what the model says")
        if self.packaged and (self.precision, self.device) not in (("auto", "auto"), ("auto", "cpu")):
            which = (
                "the packaged encoder computes in int8"
                if self.model == PACKAGED
                else "what was exported runs"
            )
            what = f"{which} on the CPU, and takes no precision and no device"
            raise UsageError(f"{what}; leave them out, or use model={MINILM}, which needs demur[encoder]")
        ours = self.model in (MINILM, PACKAGED)
        if self.revision and (ours or Path(self.model).expanduser().is_dir()):
            raise UsageError(f"revision={self.revision} is for models of the Hugging Face hub; leave it out")

    @property
    def packaged(self) -> bool:
        """Whether this needs no torch: the encoder that comes with demur, or one that was exported."""
        return self.model == PACKAGED or encoder_packaged.is_exported(Path(self.model).expanduser())

    @property
    def folder(self) -> Path:
        """Where the model lies; a Hugging Face id is downloaded first if need be."""
        return encoder_packaged.FOLDER if self.model == PACKAGED else located(self.model, self.revision)

    @property
    def how(self) -> Recipe:
        """What the model's folder says about its vectors."""
        return Recipe(self.folder, normalize=True) if self.packaged else recipe(self.folder)

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        if self.packaged:
            return encoder_packaged.packaged(self.folder).width
        return self._network().width if self.how.pooling else self._whole().width

    @property
    def taken(self) -> str:
        """The precision that is computed in here."""
        return "int8" if self.packaged else precision.taken(self.precision, device_named(self.device))

    @property
    def kept_as(self) -> str:
        """The fingerprint with the precision that is taken here: by it vectors are kept."""
        return self.fingerprint if self.packaged else replace(self, precision=self.taken).fingerprint

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and of the model's files, wherever they lie and whatever runs them."""
        if self.packaged:
            told = f"{self.name} {self.max_length} {self.prompt!r} {encoder_packaged.content(self.folder)}"
            return hashlib.sha256(told.encode()).hexdigest()[:16]
        counted = precision.counted(self.precision)
        said = [self.name, self.max_length, counted, self.prompt or self.how.prompt]
        return hashlib.sha256(f"{said} {content(self.folder)}".encode()).hexdigest()[:16]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, zeros for a text of nothing but space. Each different text is done once."""
        places: dict[str, int] = {}
        rows = [places.setdefault(_whole_characters(text), len(places)) for text in texts]
        different = list(places)
        filled = [row for row, text in enumerate(different) if text and not text.isspace()]
        vectors = np.zeros((len(different), self.width), np.float32)
        if filled:
            vectors[filled] = self._vectors([different[row] for row in filled])
        if not np.isfinite(vectors).all():
            fix = "use precision=fp32" if self.taken in ("bf16", "fp16") else "name another model"
            raise DataError("makes vectors that are not finite numbers", path=self.folder, fix=fix)
        return vectors[rows]

    def tokens(self, texts: Sequence[str], words: str = "content") -> Tokens:
        """The words of each text, as the network's last layer sees them in their context."""
        from demur.embedders.encoders.contextual_words import words_of

        if words not in ("content", "all"):
            raise UsageError(f"words={words} must be content or all")
        if self.packaged:
            which = "the packaged encoder" if self.model == PACKAGED else "an exported encoder"
            raise UsageError(f"{which} has no vectors of words; use encoder(model={MINILM})")
        network = self._network()
        length = network.length(self.max_length)
        whole = [_whole_characters(text) for text in texts]
        tokens, cut = words_of(network, whole, length, words == "all", self.prompt or network.how.prompt)
        if cut:
            self._say_cut(cut, whole, length, length)
        return tokens

    def _vectors(self, texts: list[str]) -> Vectors:
        how = self.how
        prompt = self.prompt or how.prompt
        if self.packaged:
            model = encoder_packaged.packaged(self.folder)
            length, most = model.length(self.max_length), model.positions
            vectors, cut = model.sentences([prompt + text for text in texts], length)
        elif how.pooling:
            network = self._network()
            length, most = network.length(self.max_length), network.positions
            vectors, cut = network.sentences([prompt + text for text in texts], length)
        else:
            whole = self._whole()
            length = most = whole.limit
            vectors, cut = whole.sentences(texts, prompt)
        if cut:
            self._say_cut(cut, texts, length, most)
        return vectors

    def _say_cut(self, cut: int, texts: list[str], length: int, most: int) -> None:
        """Warn that texts were cut, once; of one that came alone, such as a question, once for each."""
        known = self.model, length, hash(texts[0]) if len(texts) == 1 else 0
        if known in _said:
            return
        if len(_said) > _REMEMBERED:
            _said.clear()
        _said.update((known, (self.model, length, 0)))
        fix = f"max_length={most} reads more" if length < most else "split longer texts to have all read"
        who = f"the encoder {self.model}"
        if self.model == PACKAGED:
            who, fix = (
                "the encoder that comes with demur",
                "shorter texts are understood better",
            )
        what = f"{cut:,} of {len(texts):,} texts"
        if len(texts) == 1:
            what = f"a text of {len(texts[0]):,} characters"  # without its words: logs may not hold questions
        _log.warning(f"{who} read only the first {length} tokens of {what}; {fix}")

    def _network(self) -> Network:
        from demur.embedders.encoders.network import network

        return network(self.folder, self.taken, self.device)

    def _whole(self) -> Whole:
        from demur.embedders.encoders.sentence_transformers import sentence_transformer

        return sentence_transformer(self.folder, self.taken, self.device, self.max_length)


def _whole_characters(text: str) -> str:
    """The text, as long as it was, with a mark for each half of a character, which no tokeniser takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    return text
