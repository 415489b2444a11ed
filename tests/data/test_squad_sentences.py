from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.data import stream
from demur.data.loaders import squad
from demur.errors import DataError
from demur.sentences import sentences
from demur.types import Pool

CONTEXT = "Dr. Mora was born in 1901. She had 3.5 acres! They grew. Apples."


def file_of(folder: Path, *questions: tuple[str, list[str]], context: str = CONTEXT) -> Path:
    qas = [
        {"id": id, "question": id, "answers": [{"text": t, "answer_start": context.index(t)} for t in texts]}
        for id, texts in questions
    ]
    path = folder / "train-v1.1.json"
    data = [{"title": "A title", "paragraphs": [{"context": context, "qas": qas}]}]
    path.write_text(json.dumps({"data": data}), encoding="utf-8")
    return path


def made(folder: Path, *questions: tuple[str, list[str]], context: str = CONTEXT) -> list[Pool]:
    return list(squad.read_sentences(squad.read_pools, file_of(folder, *questions, context=context)))


def test_the_sentence_with_the_answer_is_positive(tmp_path: Path) -> None:
    (pool,) = made(tmp_path, ("q", ["3.5 acres"]))
    assert (pool.id, pool.question) == ("q", "q")
    assert pool.answers == ["Dr. Mora was born in 1901.", "She had 3.5 acres!", "They grew.", "Apples."]
    assert pool.labels == [0, 1, 0, 0]
    assert [c.id for c in pool.candidates] == [f"A_title-0-{n}" for n in range(4)]
    assert pool.extra["answers"] == [{"text": "3.5 acres", "answer_start": CONTEXT.index("3.5")}]


@pytest.mark.parametrize(
    ("answers", "labels"),
    [
        (["acres! They"], [0, 1, 1, 0]),  # across a boundary: both
        ([". She"], [0, 1, 0, 0]),  # a stop alone is no part of an answer
        (["1901. "], [1, 0, 0, 0]),
        (["Mora", "Apples"], [1, 0, 0, 1]),  # two people, two sentences
        ([], [0, 0, 0, 0]),  # unanswerable
        (["!"], [0, 1, 0, 0]),  # nothing but a mark: where it stands
    ],
)
def test_which_sentences_hold_an_answer(tmp_path: Path, answers: list[str], labels: list[int]) -> None:
    (pool,) = made(tmp_path, ("q", answers))
    assert pool.labels == labels


def test_an_answer_without_a_place_is_one_clear_line(tmp_path: Path) -> None:
    path = file_of(tmp_path, ("q", ["Mora"]))
    path.write_text(path.read_text().replace("answer_start", "start"))
    with pytest.raises(DataError, match=r"train-v1\.1\.json: .*answer_start"):
        list(squad.read_sentences(squad.read_pools, path))


@given(st.text(max_size=60), st.data())
def test_every_answer_with_a_letter_has_a_positive_sentence(
    tmp_path_factory: pytest.TempPathFactory, context: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(context)))
    text = context[start : data.draw(st.integers(start, len(context)))]
    folder = tmp_path_factory.getbasetemp()
    question = {"id": "q", "question": "q", "answers": [{"text": text, "answer_start": start}]}
    path = folder / "one.json"
    path.write_text(
        json.dumps({"data": [{"title": "T", "paragraphs": [{"context": context, "qas": [question]}]}]})
    )
    (pool,) = squad.read_sentences(squad.read_pools, path)
    assert pool.answers == [span.text for span in sentences(context)]
    if any(mark.isalnum() for mark in text):
        assert pool.positives > 0


def test_stream_takes_a_seeded_sample_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "squad").mkdir()
    file_of(tmp_path / "squad", *((f"q{n}", ["Mora"]) for n in range(30)))
    monkeypatch.setenv("DEMUR_DATA", str(tmp_path))
    whole = list(stream("squad-t/train"))
    some = list(stream("squad-t/train/sample-10-seed-0"))
    assert len(whole) == 30 and len(some) == 10
    assert [pool for pool in whole if pool in some] == some
    assert some == list(stream("squad-t/train/sample-10-seed-0"))
    assert some != list(stream("squad-t/train/sample-10-seed-1"))
