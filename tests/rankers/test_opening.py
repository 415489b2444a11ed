from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import demur
from demur import registry, store
from demur.asking import Library
from demur.embedders.encoders import loading as encoder_loading
from demur.errors import DataError, UnknownName, UsageError
from demur.rankers import Ranker
from demur.rankers.lexical.bm25 import BM25
from demur.rankers.opening import folder_of
from demur.rankers.vectors.cosine import EncoderRanker
from demur.types import FloatArray, Pool
from laws import toys


@dataclass(frozen=True)
class Favourite(Ranker):
    """Answers with the word it learnt, which lies in a file."""

    name: ClassVar[str] = "favourite"
    folder: str = ""
    shout: bool = False

    @property
    def word(self) -> str:
        return (Path(self.folder) / "sub" / "word.txt").read_text("utf-8")

    def score(self, question: str, answers: Sequence[str]) -> FloatArray:
        return np.array([answer.count(self.word) for answer in answers], np.float64)

    def save_into(self, folder: Path) -> str:
        (folder / "sub").mkdir()
        shutil.copy(Path(self.folder) / "sub" / "word.txt", folder / "sub" / "word.txt")
        return "favourite(shout=true)"


@pytest.fixture
def favourite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Favourite:
    found = registry.find
    monkeypatch.setattr(
        registry, "find", lambda kind, name: Favourite if name == "favourite" else found(kind, name)
    )
    (tmp_path / "first" / "sub").mkdir(parents=True)
    (tmp_path / "first" / "sub" / "word.txt").write_text("ship", "utf-8")
    return Favourite(str(tmp_path / "first"))


def test_a_name_with_a_folder_heeds_what_was_kept_there(favourite: Favourite, tmp_path: Path) -> None:
    favourite.save(tmp_path / "kept")
    spec = f"favourite(folder={str(tmp_path / 'kept')!r})"
    assert demur.ranker(spec) == demur.ranker(tmp_path / "kept") == Favourite(str(tmp_path / "kept"), True)
    assert demur.ranker(spec, shout=False) == Favourite(str(tmp_path / "kept"))
    assert demur.ranker(f"favourite(folder={favourite.folder!r})") == favourite, "no model of demur's"
    BM25().save(tmp_path / "other")
    assert demur.ranker(f"favourite(folder={str(tmp_path / 'other')!r})") == Favourite(
        str(tmp_path / "other")
    )


def test_names_specs_and_rankers_open_as_before() -> None:
    assert demur.ranker("bm25") == BM25() and demur.ranker("bm25(k1=0.9)", b=0.5) == BM25(k1=0.9, b=0.5)
    built = BM25()
    assert demur.ranker(built) is built
    with pytest.raises(UsageError, match="built already and takes no k1"):
        demur.ranker(built, k1=2)
    with pytest.raises(UnknownName, match="unknown ranker 'bm52'; did you mean 'bm25'"):
        demur.ranker("bm52")


def test_a_plain_ranker_is_saved_as_its_spec(tmp_path: Path) -> None:
    saved = BM25(k1=0.9, stem="english")
    saved.save(tmp_path / "new" / "model", {"data": "wikiqa/dev", "MAP": 0.6})
    folder = tmp_path / "new" / "model"
    assert [path.name for path in folder.iterdir()] == [store.FACTS]
    assert store.open_folder(folder).made == {"data": "wikiqa/dev", "MAP": 0.6}
    for opened in (demur.open(folder), demur.ranker(folder), demur.ranker(str(folder))):
        assert opened == saved and opened.fingerprint == saved.fingerprint
    assert demur.ranker(folder, k1=2) == BM25(k1=2, stem="english")
    saved.save(folder)  # again, in its place
    assert store.open_folder(folder).made == {}


def test_what_learnt_something_is_saved_with_its_files(favourite: Favourite, tmp_path: Path) -> None:
    favourite.save(tmp_path / "second")
    opened: Any = demur.open(tmp_path / "second")
    assert opened == Favourite(str(tmp_path / "second"), shout=True) and opened.word == "ship"
    assert set(store.open_folder(tmp_path / "second").files) == {"sub/word.txt"}
    opened.save(tmp_path / "second")  # in the place it was read from
    assert demur.ranker(tmp_path / "second").score("?", ["ship ship", "cape"]).tolist() == [2, 0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]
    (tmp_path / "second" / "sub" / "word.txt").write_text("cape", "utf-8")
    with pytest.raises(DataError, match=r"word\.txt: is not the file that ranker\.json describes"):
        demur.open(tmp_path / "second")


def test_a_relative_folder_stays_the_same_when_the_working_folder_changes(
    favourite: Favourite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    favourite.save(tmp_path / "second")
    monkeypatch.chdir(tmp_path)
    opened = demur.ranker("second")
    monkeypatch.chdir("/")
    assert opened.score("?", ["ship"]).tolist() == [1]


def test_what_its_spec_does_not_say_is_not_saved(tmp_path: Path) -> None:
    prepared = BM25(stats="dataset").prepare([Pool.of("q", ["a b", "c"])])
    with pytest.raises(UsageError, match="more than its settings say"):
        prepared.save(tmp_path / "model")
    library = Library(["ships sail"]).search()
    with pytest.raises(UsageError, match="cannot be saved"):
        library.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_other_folders_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("text", "utf-8")
    with pytest.raises(DataError, match="exists already and is not a model"):
        BM25().save(tmp_path)
    assert (tmp_path / "mine").read_text("utf-8") == "text"


def test_folders_of_hugging_face_open_as_what_they_hold(tmp_path: Path) -> None:
    for model in (toys.bert(), toys.bert("mean_tokens", True)):
        assert demur.ranker(model) == EncoderRanker(model)
        assert demur.ranker(Path(model), max_length=9) == EncoderRanker(model, max_length=9)
    classifier = shutil.copytree(toys.bert(), tmp_path / "cross")
    config = json.loads((classifier / "config.json").read_text("utf-8"))
    config["architectures"] = ["BertForSequenceClassification"]
    (classifier / "config.json").write_text(json.dumps(config), "utf-8")
    assert demur.ranker(classifier).name == "cross-encoder"
    (classifier / "config.json").write_text("[", "utf-8")
    with pytest.raises(DataError, match=r"config\.json:1: not JSON"):
        demur.ranker(classifier)


def test_a_hub_id_is_an_encoder_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def downloaded(name: str, revision: str) -> Path:
        if name != "org/tiny":
            raise DataError(f"no {name}")
        return Path(toys.bert())

    monkeypatch.setattr(encoder_loading, "_downloaded", downloaded)
    assert demur.ranker("org/tiny") == EncoderRanker("org/tiny")
    assert demur.ranker("org/tiny", revision="v1") == EncoderRanker("org/tiny", "v1")
    assert demur.ranker("org/tiny").fingerprint == EncoderRanker(toys.bert()).fingerprint
    with pytest.raises(DataError, match="no org/away"):
        demur.ranker("org/away")


def test_folders_that_hold_nothing_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no model: neither ranker\.json nor modules\.json"):
        demur.ranker(tmp_path)
    with pytest.raises(DataError, match="holds no model, as it has no"):
        demur.open(tmp_path)
    for missing in (str(tmp_path / "x"), "./x", "~/no such folder", "a/b/c", tmp_path / "y"):
        with pytest.raises(DataError, match=r"no such folder; name the folder of a model, or a ranker"):
            demur.ranker(missing)
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(DataError, match="is a file, not a folder"):
        demur.ranker(str(tmp_path / "file"))


def test_a_name_goes_before_a_folder_called_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    BM25(k1=0.1).save("overlap")
    assert demur.ranker("overlap").name == "overlap" and folder_of("overlap(weighted=false)") is None
    assert demur.ranker("./overlap") == BM25(k1=0.1) == demur.ranker(Path("overlap"))
