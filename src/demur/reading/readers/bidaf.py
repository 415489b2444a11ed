"""BiDAF as a reader: word vectors and letters, recurrent layers and attention both ways, no pretraining."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demur.errors import DataError, require
from demur.files import whole
from demur.reading.base import Pair
from demur.reading.readers.network import NetworkReader, Window
from demur.reading.spans import Through, fairly, stretches
from demur.reading.vocabulary import LONGEST, Letters, Numbers, Vocabulary
from demur.specs import Spec
from demur.types import IntArray

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_FACTS, _WEIGHTS = "bidaf.json", "model.safetensors"
_UNKNOWN = np.ones(1, np.int32), np.ones((1, LONGEST), np.int16)  # read where a text has no words


@dataclass(frozen=True)
class Words(Window):
    """A window as the words of the question and of a part of the passage, with their letters."""

    asked: Numbers
    spelt_asked: Letters
    shown: Numbers
    spelt_shown: Letters

    @property
    def length(self) -> int:
        """How many words there are."""
        return len(self.asked) + len(self.shown)


@dataclass(frozen=True)
class Bidaf(NetworkReader):
    """A trained BiDAF that quotes; it has a trained score for no answer.

    Windows of `max_length` words begin `stride` words after each other; an answer has at most `longest`.
    """

    name: ClassVar[str] = "bidaf"
    layers: ClassVar[tuple[str, ...]] = ("embedded", "context", "attended", "modelled", "ended")
    max_length: int = 400

    @staticmethod
    def load(place: str) -> tuple[torch.nn.Module, Vocabulary]:
        """The network and the words that lie in a folder."""
        require("torch", extra="encoder")
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        from demur.nets.readers.bidaf import BiDAF

        folder = Path(place)
        try:
            facts = json.loads(whole(folder / _FACTS))
            vocabulary = Vocabulary(facts["words"], facts["letters"])
            network = BiDAF(*vocabulary.sizes, **facts["sizes"])
            network.load_state_dict(load_file(folder / _WEIGHTS))
        except (SafetensorError, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
            why = " ".join(str(error).split())[:160]
            fix = "name a folder that demur train --trainer bidaf made"
            raise DataError(f"holds no BiDAF ({why})", path=place, fix=fix) from None
        return network, vocabulary

    def save_into(self, folder: Path) -> str:
        """The spec of the reader whose network and words now lie in the folder."""
        from safetensors.torch import save_file

        network, vocabulary = self._network()
        save_file({k: v.contiguous() for k, v in network.state_dict().items()}, folder / _WEIGHTS)
        facts = {"sizes": network.sizes, "words": list(vocabulary.words), "letters": vocabulary.letters}
        (folder / _FACTS).write_text(json.dumps(facts), "utf-8")
        return str(Spec(self.name, {name: getattr(self, name) for name in self.kept}))

    def windows(self, network: torch.nn.Module, tokenizer: Any, pairs: Sequence[Pair]) -> list[Words]:
        """The windows of all pairs; of a question, at most half as many words as a window has."""
        read = {text: tokenizer.read(text) for text in dict.fromkeys(text for pair in pairs for text in pair)}
        found = []
        for pair, (question, passage) in enumerate(pairs):
            asked, spelt_asked, _ = (part[: self.max_length // 2] for part in read[question])
            shown, spelt, places = read[passage]
            cut = stretches(len(shown), self.max_length, self.stride)
            for number, ((a, b), fair) in enumerate(zip(cut, fairly(cut, len(shown)), strict=True)):
                where = np.vstack([[0, 0], places[a:b]])
                parts = asked, spelt_asked, shown[a:b], spelt[a:b]
                found.append(Words(pair, number, where, np.append(True, fair), *parts))
        return found

    def forward(
        self, network: torch.nn.Module, windows: Sequence[Words], states: bool = False, through: Through = ()
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        """How well each position starts and ends: windows × positions; and its states.

        A text without words is read as one that is not known, of which there is no position. No answer has
        no states, so they are zeros there.
        """
        import torch
        from torch.nn.functional import pad

        from demur.nets.readers.probe import times

        device = next(network.parameters()).device
        texts = [(w.asked, w.spelt_asked) for w in windows], [(w.shown, w.spelt_shown) for w in windows]
        arrays = [torch.from_numpy(each).to(device) for some in texts for each in _filled(some)]
        starts, ends, layers = network(*arrays)
        positions = torch.tensor([1 + len(w.shown) for w in windows], device=device)
        beyond = torch.arange(starts.shape[1], device=device) >= positions[:, None]
        starts, ends = (each.masked_fill(beyond, -torch.inf) for each in (starts, ends))
        if through:
            layers = times(layers, through)
        elif not states:
            layers = []
        return starts, ends, [pad(layer, (0, 0, 1, 0)) for layer in layers]


def _filled(texts: Sequence[tuple[Numbers, Letters]]) -> tuple[IntArray, IntArray]:
    """The words of texts, and their letters, filled up with 0."""
    texts = [text if len(text[0]) else _UNKNOWN for text in texts]
    most = max(len(words) for words, _ in texts)
    words = np.zeros((len(texts), most), np.int64)
    letters = np.zeros((*words.shape, LONGEST), np.int64)
    for row, (numbers, spelt) in enumerate(texts):
        words[row, : len(numbers)], letters[row, : len(numbers)] = numbers, spelt
    return words, letters
