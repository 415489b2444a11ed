"""Mini without torch: one ONNX file that ranks, reads and doubts in one pass. One comes with demur."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import demur
from demur import runtime, store
from demur.errors import DataError, UsageError
from demur.rankers.cross_encoders.onnx import MODEL, TOKENIZER
from demur.rankers.cross_encoders.pairs import whole
from demur.reading import confidence
from demur.reading.base import Pair
from demur.reading.confidence import ConfidenceModel, Glance
from demur.reading.one_pass import OnePassReader, glance
from demur.reading.readers.span_reader import Marks, Tokens
from demur.reading.spans import Through, fairly, stretches
from demur.specs import Spec
from demur.types import IntArray

PACKAGED = Path(demur.__file__).parent / "models" / "mini"
OUTPUTS = ("score", "start", "end", "layers")
_BUDGET = 256  # tokens of a batch: all that is computed of it stays near the processor
_TOGETHER = 1024  # pairs held as tokens


@dataclass(frozen=True)
class Mini(OnePassReader):
    """The small model that comes with demur: it ranks, quotes and gives a confidence, without torch.

    `folder` names another one, as ``demur export`` writes it. Windows of `max_length` tokens begin `stride`
    tokens after each other; an answer has at most `longest` tokens.
    """

    name: ClassVar[str] = "mini"
    shows_states: ClassVar[bool] = False
    tolerance: ClassVar[float] = 1e-5
    counted: ClassVar[tuple[str, ...]] = ("max_length", "stride", "longest", "n_best", "threshold")
    folder: str = ""
    threads: int = 0  # 0 is as many as may be used, see demur.processor
    max_length: int = 384
    stride: int = 128
    longest: int = 30
    n_best: int = 20
    threshold: float = 0.0

    def __post_init__(self) -> None:
        if self.threads < 0:
            raise UsageError(f"threads={self.threads} means nothing; use 1 or more, or 0 for all cores")
        if self.max_length < 16:
            raise UsageError(f"max_length={self.max_length} leaves no room for a passage; use 16 or more")
        if min(self.stride, self.longest, self.n_best) < 1:
            raise UsageError("stride, longest and n_best must be 1 or more")
        if not self.folder and not (PACKAGED / MODEL).is_file():
            what, fix = "the model that comes with demur is missing", "install demur again, or run make mini"
            raise DataError(what, path=PACKAGED, fix=f"{fix}; or name another folder, mini(folder=DIR)")

    @property
    def place(self) -> Path:
        """The folder in which it lies."""
        return Path(self.folder) if self.folder else PACKAGED

    @property
    def confidence_model(self) -> ConfidenceModel | None:
        """What makes a confidence of signals; None if it has not been taught."""
        return self._model().confidence_model

    def views(self, pairs: Sequence[Pair], states: bool = False, through: Through = ()) -> Iterator[Glance]:
        """What the network says of each window of each pair, as glances."""
        if states or through:
            raise UsageError(f"{self.name} has probes of its own, and shows no states; ask it by `look`")
        model = self._model()
        for at in range(0, len(pairs), _TOGETHER):
            windows = model.windows(pairs[at : at + _TOGETHER], self.max_length, self.stride)
            yield from self._seen(model, windows, at)

    def _seen(self, model: _Model, windows: Sequence[Tokens], at: int) -> list[Glance]:
        found: dict[int, Glance] = {}

        def run(batch: IntArray) -> None:
            some = [windows[place] for place in batch.tolist()]
            scores, starts, ends, layers = model.run(some)
            for row, (place, window) in enumerate(zip(batch.tolist(), some, strict=True)):
                spans = np.stack([starts[row], ends[row]])
                spans[0, 0] -= model.null
                found[place] = glance(window, at, float(scores[row]), spans, layers[row])

        lengths = np.array([len(window.ids) for window in windows])
        runtime.side_by_side(run, list(runtime.alike(lengths, _BUDGET)), self.threads)
        return [found[place] for place in range(len(windows))]

    def _model(self) -> _Model:
        return _opened(str(self.place), runtime.stamp(self.place, (MODEL, TOKENIZER, store.FACTS)))

    def save_into(self, folder: Path) -> str:
        """The spec of the model whose files now lie in the folder too."""
        for name in (MODEL, TOKENIZER, confidence.FILE):
            if (self.place / name).is_file():
                shutil.copyfile(self.place / name, folder / name)
        return str(Spec(self.name, {name: getattr(self, name) for name in self.counted}))

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and the files, wherever they lie; threads change no score."""
        settings = " ".join(str(getattr(self, name)) for name in self.counted)
        files = sorted(_kept(self.place).items())
        return hashlib.sha256(f"{self.name} {settings} {files}".encode()).hexdigest()[:16]


def _kept(folder: Path) -> dict[str, str]:
    """The checksums of the files that it is made of, as the folder says them."""
    files = store.open_folder(folder, check=False).files
    return {name: files[name] for name in (MODEL, TOKENIZER, confidence.FILE) if name in files}


@dataclass(frozen=True)
class _Model:
    """What lies in a folder, ready to run."""

    session: Any
    tokenizer: Any
    marks: Marks
    positions: int  # tokens that it reads at most
    null: float  # what no answer is scored too high, as held-out questions say
    confidence_model: ConfidenceModel | None

    def windows(self, pairs: Sequence[Pair], max_length: int, stride: int) -> list[Tokens]:
        """The windows of all pairs; of a question, at most as many tokens as fill half a window."""
        room = min(max_length, self.positions) - self.marks.size
        known = self._tokenised([text for pair in pairs for text in pair])
        found = []
        for number, (question, passage) in enumerate(pairs):
            asked = known[question][0][: room // 2]
            head = np.concatenate([self.marks.before, asked, self.marks.between]).astype(np.int32)
            tokens, places = known[passage]
            cut = stretches(len(tokens), room - len(asked), stride)
            for window, ((a, b), fair) in enumerate(zip(cut, fairly(cut, len(tokens)), strict=True)):
                ids = np.concatenate([head, tokens[a:b], self.marks.after]).astype(np.int32)
                parts = np.vstack([[0, 0], places[a:b]]), np.append(True, fair), ids
                found.append(Tokens(number, window, *parts, len(head), b - a, self.marks))
        return found

    def _tokenised(self, texts: Sequence[str]) -> dict[str, tuple[IntArray, IntArray]]:
        """For each different text its tokens, and where they start and end in it."""
        different = list(dict.fromkeys(texts))
        found = self.tokenizer.encode_batch([whole(text) for text in different], add_special_tokens=False)
        return {
            text: (np.array(each.ids, np.int64), np.array(each.offsets, np.int64).reshape(-1, 2))
            for text, each in zip(different, found, strict=True)
        }

    def run(self, windows: Sequence[Tokens]) -> list[NDArray[np.float32]]:
        """What the network says of windows of one length."""
        ids = np.stack([window.ids for window in windows]).astype(np.int64)
        kinds = np.full(ids.shape, self.marks.kinds[1], np.int64)
        for row, window in enumerate(windows):
            kinds[row, : window.head] = self.marks.kinds[0]
        found: list[NDArray[np.float32]] = self.session.run(
            list(OUTPUTS), {"input_ids": ids, "token_type_ids": kinds}
        )
        return found


@lru_cache(maxsize=2)
def _opened(folder: str, stamp: object) -> _Model:
    store.open_folder(folder)  # each file is checked against its checksum, once
    session = runtime.session(Path(folder) / MODEL)
    tokenizer = runtime.tokenizer(Path(folder) / TOKENIZER)
    if [each.name for each in session.get_outputs()] != list(OUTPUTS):
        what = f"has other outputs than {', '.join(OUTPUTS)}"
        raise DataError(what, path=Path(folder) / MODEL, fix="name the folder of a mini that was exported")
    tokenizer.encode_special_tokens = True  # words such as [SEP] are read as any others
    facts = session.get_modelmeta().custom_metadata_map
    confidence = ConfidenceModel.load(Path(folder), int(facts["probes"]))
    null = float(facts.get("null", 0))
    return _Model(session, tokenizer, _marks(tokenizer), int(facts["positions"]), null, confidence)


def _marks(tokenizer: Any) -> Marks:
    """What stands around a pair, as the tokenizer does it with a pair of letters."""
    pair = tokenizer.encode("a", "b")
    ids, whose, kinds = pair.ids, pair.sequence_ids, pair.type_ids
    asked, shown = whose.index(0), whose.index(1)
    behind, after = asked + whose.count(0), shown + whose.count(1)
    parts = ids[:asked], ids[behind:shown], ids[after:]
    return Marks(*parts, kinds=(kinds[asked], kinds[shown]), typed=True, padding=0)
