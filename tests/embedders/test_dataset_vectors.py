from __future__ import annotations

import logging
from pathlib import Path

import pytest

from demur import DemurError, cache
from demur.embedders.word_vectors import dataset_vectors
from demur.embedders.word_vectors.embedder import WordVectors, located
from demur.embedders.word_vectors.skipgram import Training
from demur.embedders.word_vectors.tables import table

POOLS = """question\tanswer\tlabel
where does the ship sail\tthe ship sails north\t1
where does the ship sail\tthe oak is a tree\t0
what is an oak\tan oak is a tree\t1
"""
SMALL = Training(width=4, min_count=1, epochs=1)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DEMUR_DATA", raising=False)
    path = tmp_path / "pools.tsv"
    path.write_text(POOLS, encoding="utf-8")
    return path


def test_texts_are_questions_and_candidates(file: Path) -> None:
    assert list(dataset_vectors.texts(str(file)))[:3] == [
        "where does the ship sail",
        "the ship sails north",
        "the oak is a tree",
    ]


@pytest.mark.extras
def test_trained_once_and_again_when_text_or_settings_change(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        first = dataset_vectors.dataset_vectors([str(file)], SMALL)
    assert "training word vectors on" in caplog.text
    assert first.parent == cache.folder("vectors")
    assert {"ship", "oak", "tree"} <= set(table(first).words)
    assert table(first).made["texts of"] == [str(file)]
    caplog.clear()
    assert dataset_vectors.dataset_vectors([str(file)], SMALL) == first
    assert not caplog.text
    assert dataset_vectors.dataset_vectors([str(file)], Training(width=5, min_count=1, epochs=1)) != first
    file.write_text(POOLS.replace("oak", "elm"), encoding="utf-8")
    other = dataset_vectors.dataset_vectors([str(file)], SMALL)
    assert other != first and "elm" in table(other).words


def test_vectors_specific_to_a_dataset_have_a_name(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data/yahoocqa"
    folder.mkdir(parents=True)
    lines = "".join(f"ship {n}#a ship sails {n}#1\noak {n}#green oak {n}#0\n" for n in range(10))
    (folder / "test.txt").write_text(lines, encoding="utf-8")
    monkeypatch.setenv("DEMUR_DATA", str(tmp_path / "data"))
    words = WordVectors("specific:yahoocqa")
    assert words.embed(["ship"]).any()
    assert words.table.made["texts of"] == ["yahoocqa"]
    encoded = WordVectors("encoder:yahoocqa")
    assert encoded.width == 200 and encoded.table.made["model"] == "encoder"
    ship, boat = encoded.embed(["ship"]), WordVectors(str(located("encoder:yahoocqa"))).embed(["ship"])
    assert (ship == boat).all() and ship.any()
    assert located("encoder") == Path("encoder"), "a file of that name, if there is one"


def test_without_the_data_it_says_how_to_obtain_it(file: Path) -> None:
    with pytest.raises(DemurError, match=r"DEMUR_DATA is not set.*obtain"):
        dataset_vectors.vectors_named("wikiqa")
    with pytest.raises(DemurError, match="unknown dataset or file 'wikiqq'; did you mean 'wikiqa'"):
        WordVectors("specific:wikiqq").embed(["ship"])
