from __future__ import annotations

import copy
from pathlib import Path

import pytest

import demur
from demur.data import Dataset, Pools, dataset, formats, load, pools, stream
from demur.errors import DataError, MissingData, UnknownName, UsageError
from demur.types import Pool


def test_a_dataset_has_its_splits_as_items_and_attributes(root: Path) -> None:
    data = demur.load("wikiqa")
    assert isinstance(data, Dataset)
    assert data.name == "wikiqa"
    assert data.splits == ("train", "dev", "test") == tuple(data) and "dev" in data and "all" not in data
    assert data.train is data["train"]
    assert data.train.id == "wikiqa/train"
    assert [pool.id for pool in data.train] == ["Q1", "Q2", "Q3"]
    assert dataset("trecqa").train_all.id == "trecqa/train-all"
    assert {"train_all", "dev", "splits"} <= set(dir(dataset("trecqa")))


def test_pools_are_a_sequence(root: Path) -> None:
    train = pools("wikiqa/train")
    assert len(train) == 3
    assert train[0].candidates[0].text == "It was made by Ada ."
    assert [pool.id for pool in train[1:]] == ["Q2", "Q3"]
    assert [pool.id for pool in train[::2]] == ["Q1", "Q3"] and train[::2].id == "wikiqa/train[::2]"
    assert train[-1] in train
    assert repr(train) == "<Pools wikiqa/train>"
    assert train.files == ("wikiqa/WikiQA-train.tsv.gz",)


def test_nothing_is_read_before_the_first_touch_and_then_it_is_kept(root: Path) -> None:
    data = dataset("wikiqa")
    with pytest.raises(MissingData):
        len(data.test)
    train = data.train
    first = train[0]
    (root / "wikiqa/WikiQA-train.tsv.gz").unlink()
    assert train[0] is first
    with pytest.raises(MissingData):
        next(train.stream())


def test_a_file_may_lie_there_unpacked(root: Path) -> None:
    assert [pool.id for pool in stream("wikiqa/dev")] == ["P1", "P2", "P3"]


def test_subsets_follow_the_split_and_each_other(root: Path) -> None:
    assert [pool.id for pool in stream("wikiqa/train/answerable")] == ["Q1", "Q3"]
    assert [pool.id for pool in stream("wikiqa/train/answerable/clean")] == ["Q1"]
    assert [pool.id for pool in stream("wikiqa/train/")] == ["Q1", "Q2", "Q3"]
    assert len(list(stream("wikiqa/train/sample-2"))) == 2


def test_a_split_may_be_had_apart_from_another(root: Path) -> None:
    asked = "Q4\twhen was that?\tD3\tTimes\tD3-0\tIn 1901 .\t1\n"
    with (root / "wikiqa/WikiQA-dev.tsv").open("a", encoding="utf-8") as file:
        file.write(asked)
    apart = pools("wikiqa/dev/apart-wikiqa-train/answerable")
    assert [pool.id for pool in apart] == ["Q4"]
    assert apart.files == ("wikiqa/WikiQA-dev.tsv.gz", "wikiqa/WikiQA-train.tsv.gz")
    assert pools("squad/2.0/train/rest/apart-squad-2.0-dev").files[1:] == ("squad/dev-v2.0.json.gz",)
    assert pools("squad-t/2.0/train/apart-selqa-test/answerable").files[1:] == pools("selqa/test").files
    for name in ("apart-wikiqa", "apart-wikiqa-tests", "apart-"):
        with pytest.raises(UnknownName, match="apart-wikiqa-test"):
            pools(f"wikiqa/dev/{name}")


def test_a_split_may_have_several_parts() -> None:
    data = load("squad/2.0")
    assert isinstance(data, Dataset)
    assert (data.name, data.splits) == ("squad/2.0", ("train", "dev"))
    assert data.dev.id == "squad/2.0/dev" == pools("squad/2.0/dev").id
    assert pools("selqa/dev/tokens/clean").files == ("selqa/selqa-ass-dev.tsv.gz",)
    assert pools("selqa/dev/clean").files == ("selqa/selqa-ass-dev.json.gz",)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "own.tsv"
    file.write_text("a?\tyes\t1\na?\tno\t0\nb?\tno\t0\n", encoding="utf-8")
    for id in (file, str(file)):
        own = load(id)
        assert isinstance(own, Pools)
        assert own.id == str(file)
        assert [pool.labels for pool in own] == [[1, 0], [0]]


def test_a_file_is_found_where_a_split_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wikiqa").mkdir()
    (tmp_path / "wikiqa/mine.tsv").write_text("a?\tyes\t1\n", encoding="utf-8")
    assert len(pools("wikiqa/mine.tsv")) == 1
    assert isinstance(load("wikiqa"), Dataset)


@pytest.mark.parametrize(
    ("id", "error", "words"),
    [
        ("wikiqq", UnknownName, ["dataset or file", "did you mean 'wikiqa'", "trecqa"]),
        ("wikiqa/tset", UnknownName, ["split of wikiqa", "did you mean 'test'", "dev, test, train"]),
        ("wikiqa/test/cleen", UnknownName, ["subset of wikiqa/test", "did you mean 'clean'", "answerable"]),
        ("trecqa/train-all/shrt", UnknownName, ["did you mean 'short'"]),
        ("wikiqa/test/short", UnknownName, ["'short'"]),
        ("./nowhere.tsv", DataError, ["nowhere.tsv", "no such file"]),
        ("nowhere.jsonl.gz", DataError, ["no such file"]),
    ],
)
def test_what_is_not_there_is_one_clear_line(id: str, error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        load(id)
    message = str(caught.value)
    assert "\n" not in message
    assert all(word in message for word in words), message


def test_an_unknown_attribute_names_the_ids_there_are() -> None:
    with pytest.raises(AttributeError, match=r"squad has no split 'dev'.*squad/2\.0/dev"):
        _ = dataset("squad").dev
    with pytest.raises(UnknownName, match="split of wikiqa"):
        dataset("wikiqa")["nothing"]
    assert copy.copy(dataset("wikiqa")).splits == dataset("wikiqa").splits


def test_pools_need_a_split_and_a_dataset_none() -> None:
    with pytest.raises(UsageError, match="name one of its splits: wikiqa/train, "):
        pools("wikiqa")
    with pytest.raises(UsageError, match="name only the dataset"):
        dataset("wikiqa/test")


@pytest.mark.parametrize("set_to", [None, "", "/nowhere"])
def test_missing_data_says_which_file_and_how_to_obtain_it(
    set_to: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if set_to is None:
        monkeypatch.delenv("DEMUR_DATA", raising=False)
    else:
        monkeypatch.setenv("DEMUR_DATA", set_to)
    with pytest.raises(MissingData) as caught:
        len(pools("asnq/dev"))
    message = str(caught.value)
    assert "\n" not in message
    assert "asnq/dev.tsv.gz" in message
    assert "wqa_tanda" in message
    assert (f"DEMUR_DATA is {set_to}" if set_to else "DEMUR_DATA is not set") in message
    assert "set DEMUR_DATA to that folder" in message
    with pytest.raises(MissingData, match="SQuAD site"):  # the dataset that the file belongs to says how
        len(pools("squad-t/dev"))


def test_parts_of_a_file_of_ones_own(tmp_path: Path) -> None:
    made = [Pool.of(f"q{n}", ["a", "b"], [n % 2, 0], id=str(n)) for n in range(10)]
    file = tmp_path / "faq.jsonl"
    formats.write_pools(file, made)
    assert [pool.id for pool in pools(f"{file}/answerable")] == ["1", "3", "5", "7", "9"]
    assert len(pools(f"{file}/answerable/sample-2-seed-4")) == 2
    with pytest.raises(UnknownName, match=r"unknown subset of .*faq.jsonl 'answerabel'; did you mean"):
        pools(f"{file}/answerabel")
    with pytest.raises(DataError, match="no such file"):
        pools(f"{tmp_path}/other.jsonl/answerable")
