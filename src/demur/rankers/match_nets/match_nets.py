"""Rankers that match words by a small net, as `demur train` makes them; they need torch."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from demur import store
from demur.embedders.word_vectors import table_formats
from demur.errors import DataError, UsageError, require
from demur.files import sha256, whole
from demur.rankers.base import Ranker
from demur.rankers.match_nets.word_numbers import VECTORS, Context, Lexicon, Read, Words, batches, of_pools
from demur.types import FloatArray, IntArray, Pool

if TYPE_CHECKING:
    from demur.nets.matching.match_net import MatchNet, Worded

FACTS, WEIGHTS = "match.json", "model.safetensors"


@dataclass(frozen=True, eq=False)
class Trained:
    """A net with the words that it reads, and how many of them in a question and in an answer."""

    network: Worded
    words: Words
    question_words: int = 40
    answer_words: int = 60

    @property
    def shape(self) -> tuple[Any, ...]:
        """What two nets must share to see the same batches."""
        net = self.network.net
        sizes = sorted(net.sizes.items())
        return (type(net).__name__, sizes, self.question_words, self.answer_words, self.words.fingerprint)


@dataclass(frozen=True)
class Match(Ranker):
    """What these rankers share: a folder with a net, or one that was just trained."""

    tolerance: ClassVar[float] = 2e-5  # scores of different batches are padded, and rounded, differently
    alone: ClassVar[bool] = True
    folder: str = ""
    _held: Trained | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.folder:
            fix = f"train one with demur train --trainer {self.name}, or name its folder"
            raise UsageError(f"{self.name} has learnt nothing yet; {fix}: {self.name}(folder=DIR)")

    @classmethod
    def net(cls, **sizes: Any) -> MatchNet:
        """A net of this kind, whose weights are drawn."""
        raise NotImplementedError

    @classmethod
    def of(cls, trained: Trained) -> Self:
        """The ranker of a net that lies in no folder yet."""
        network, words = trained.network.eval(), trained.words
        if network.tuned and isinstance(words, Lexicon):
            words = words.tuned(network.vectors.detach().numpy())
        made = cls.__new__(cls)  # past the question for a folder
        object.__setattr__(made, "folder", "")
        held = Trained(network, words, trained.question_words, trained.answer_words)
        object.__setattr__(made, "_held", held)
        return made

    @property
    def trained(self) -> Trained:
        """The net and its words; read when first needed."""
        if self._held is None:
            object.__setattr__(self, "_held", self._read(Path(self.folder)))
        assert self._held is not None
        return self._held

    def fresh(self) -> Trained:
        """The same, with a copy of the net, to be trained."""
        has = self.trained
        return Trained(copy.deepcopy(has.network), has.words, has.question_words, has.answer_words)

    def linked(self, source: tuple[Path, int]) -> Self:
        """The same, whose words lie in a file already, written then: saved, it links to that."""
        has = self.trained
        if not isinstance(has.words, Lexicon) or has.network.tuned:
            return self
        words = replace(has.words, source=source)
        return self.of(Trained(has.network, words, has.question_words, has.answer_words))

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool; a pair that stands there twice is scored once."""
        [scores] = score_together([self], pools)
        return scores

    def save_into(self, folder: Path) -> str:
        """The spec of the ranker whose net and words now lie in the folder."""
        from safetensors.torch import save_file

        has = self.trained
        save_file({k: v.contiguous() for k, v in has.network.net.state_dict().items()}, folder / WEIGHTS)
        facts = {"sizes": has.network.net.sizes, "tuned": has.network.tuned, "question": has.question_words}
        facts |= {"answer": has.answer_words, "context": "", "buckets": 0}
        if isinstance(has.words, Lexicon):
            facts["buckets"] = has.words.buckets
            has.words.save(folder)
        elif isinstance(has.words, Context):
            facts["context"] = has.words.spec
        (folder / FACTS).write_text(json.dumps(facts), "utf-8")
        return self.name

    @property
    def fingerprint(self) -> str:
        """A hash of the net and the words, wherever they lie."""
        digest = hashlib.sha256(f"{self.name} {self.trained.shape}".encode())
        for name, weights in sorted(self.trained.network.net.state_dict().items()):
            digest.update(name.encode())
            digest.update(weights.detach().contiguous().numpy().tobytes())
        return digest.hexdigest()[:16]

    def _read(self, folder: Path) -> Trained:
        torch: Any = require("torch", extra="encoder")
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        from demur.nets.matching.match_net import Worded

        try:
            facts = json.loads(whole(folder / FACTS))
            net = self.net(**facts["sizes"])
            net.load_state_dict(load_file(folder / WEIGHTS))
            words: Words = Context(facts["context"]) if facts["context"] else lexicon_in(folder)
            network = Worded(net, torch.from_numpy(words.matrix), bool(facts["tuned"])).eval()
            return Trained(network, words, int(facts["question"]), int(facts["answer"]))
        except (SafetensorError, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
            why = " ".join(str(error).split())[:160]
            fix = f"name a folder that demur train --trainer {self.name} made"
            raise DataError(f"holds no {self.name} ({why})", path=folder, fix=fix) from None


@dataclass(frozen=True)
class MatchPyramid(Match):
    """A trained MatchPyramid: a small convolution over which words of question and answer are alike."""

    name: ClassVar[str] = "match-pyramid"

    @classmethod
    def net(cls, **sizes: Any) -> MatchNet:
        """A net of this kind, whose weights are drawn."""
        from demur.nets.matching.match_pyramid import MatchPyramid as Net

        return Net(**sizes)


@dataclass(frozen=True)
class DeepMatching(Match):
    """A trained Deep Matching Net: it sees which words are alike, and which states of a GRU are."""

    name: ClassVar[str] = "deep-matching"

    @classmethod
    def net(cls, **sizes: Any) -> MatchNet:
        """A net of this kind, whose weights are drawn."""
        from demur.nets.matching.deep_matching import DeepMatching as Net

        return Net(**sizes)


@dataclass(frozen=True)
class Multihop(Match):
    """A trained Multihop Attention Network: it looks at both texts several times, and compares."""

    name: ClassVar[str] = "multihop"

    @classmethod
    def net(cls, **sizes: Any) -> MatchNet:
        """A net of this kind, whose weights are drawn."""
        from demur.nets.matching.multihop import Multihop as Net

        return Net(**sizes)


def score_together(members: Sequence[Match], pools: Sequence[Pool]) -> list[list[FloatArray]]:
    """The scores by each of several rankers whose nets share a shape: texts are read once for all."""
    has = members[0].trained
    nets = [member.trained.network for member in members]

    def score(read: Read, questions: IntArray, answers: IntArray) -> FloatArray:
        return scored(nets, read, questions, answers, has.question_words, has.answer_words)

    return of_pools(has.words, pools, score, len(nets))


def scored(
    nets: Sequence[Worded],
    read: Read,
    questions: IntArray,
    answers: IntArray,
    question_words: int,
    answer_words: int,
) -> FloatArray:
    """What each net says of each pair of texts that were read: nets × pairs."""
    torch: Any = require("torch", extra="encoder")
    from demur.rankers.match_nets.match_pairs import scores, stretches

    found = np.empty((len(nets), len(questions)))
    words = question_words, answer_words
    with torch.inference_mode():
        for some in stretches(read, questions, answers, words):
            asked, told = questions[some], answers[some]
            chosen = batches(read, asked, told)
            for number, net in enumerate(nets):
                found[number, some] = scores(net, read, asked, told, words, chosen).numpy()
    return found


def lexicon_in(folder: Path) -> Lexicon:
    """The words of a net, and their vectors, that lie in its folder."""
    return _lexicon(_File.at(folder))


@dataclass(frozen=True)
class _File:
    """A file of vectors; those of one checksum are read once, wherever they lie."""

    checksum: str
    folder: Path = field(compare=False)

    @classmethod
    def at(cls, folder: Path) -> _File:
        known = store.open_folder(folder, check=False).files if store.is_model(folder) else {}
        return cls(known.get(VECTORS) or sha256(folder / VECTORS), folder)


@lru_cache(maxsize=4)
def _lexicon(file: _File) -> Lexicon:
    facts, path = json.loads(whole(file.folder / FACTS)), file.folder / VECTORS
    written = path.stat().st_mtime_ns
    return Lexicon(table_formats.read_table(path), int(facts["buckets"]), (path, written))
