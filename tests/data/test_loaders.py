"""Loaders of answers that stand in articles and pages; and strange files, for all loaders."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from data.loaded import Write, outline
from demur import registry
from demur.data.loaders import csv_rows, selqa, squad, trecqa, wikiqa
from demur.errors import DataError, DemurError
from demur.types import Pool


def test_wikiqa(write: Write) -> None:
    rows = (
        ("head\t" * 7)[:-1],
        'Q1\tq?\tD1\tTi"tle\tD1-0\ta "b\t1',
        "Q1\tq?\tD1\tT\tD1-1\tc\t0",
        "Q2\tq?\tD2\tU\tD2-0\tc\t0",
    )
    pools = list(wikiqa.read_pools(write("w.tsv", *(f"{row}\r" for row in rows))))
    assert outline(pools) == [
        ("Q1", "q?", [("D1-0", 'a "b', 1), ("D1-1", "c", 0)]),
        ("Q2", "q?", [("D2-0", "c", 0)]),
    ]
    assert pools[0].extra == {"document": "D1", "title": 'Ti"tle'}


XML = (
    *("<QApairs id='32.1'>", "<question>", "Who\t?", "WP\t.", "</question>"),
    *(
        "<positive>",
        "Ada\t.",
        "NNP\t.",
        "</positive>",
        "<negative>",
        "<b>\tBob\t.",
        "x\tNNP\t.",
        "</negative>",
        "</QApairs>",
    ),
    *("<QApairs id='32.2'>", "<question>", "Why\t?", "</question>", "</QApairs>"),
)


def test_trecqa_xml(write: Write) -> None:
    pools = list(trecqa.read_xml(write("t.xml", *XML)))
    assert outline(pools) == [
        ("32.1", "Who ?", [("32.1-0", "Ada .", 1), ("32.1-1", "<b> Bob .", 0)]),
        ("32.2", "Why ?", []),
    ]


@pytest.mark.parametrize("cut", [1, 6, 12, 15])
def test_trecqa_xml_cut_off_is_an_error(write: Write, cut: int) -> None:
    with pytest.raises(DataError, match=f"t.xml:{cut}: .*; obtain the file again"):
        list(trecqa.read_xml(write("t.xml", *XML[:cut])))


def test_trecqa_train_all_and_its_short_reading(write: Write) -> None:
    long = "word " * 60
    pools = list(
        trecqa.read_tsv(
            write("t.tsv", "qid\tq\ta\tl", f"7\tq?\t{long}.\t1", f"7\tq?\t{long}\t0", "9\tr?\tx\t0")
        )
    )
    assert [(p.id, p.labels) for p in pools] == [("7", [1, 0]), ("9", [0])]
    assert [len(text.split()) for text in pools[0].answers] == [61, 60]
    short = list(trecqa.short(pools))
    assert [p.answers for p in short] == [["", long], ["x"]]
    assert [(p.id, p.labels) for p in short] == [(p.id, p.labels) for p in pools]


SELQA = {
    "question": "q?",
    "article": "A",
    "section": "S",
    "topic": "ART",
    "q_types": ["who"],
    "is_paraphrase": False,
}


def test_selqa(write: Write) -> None:
    entries = [
        {**SELQA, "candidates": ["a", " ", "b"], "answers": [2]},
        {**SELQA, "candidates": ["c"], "answers": []},
    ]
    cased = list(selqa.read_json("dev", write("s.json", json.dumps(entries))))
    assert outline(cased) == [
        ("dev-1", "q?", [("dev-1-0", "a", 0), ("dev-1-1", "b", 1)]),
        ("dev-2", "q?", [("dev-2-0", "c", 0)]),
    ]
    assert cased[0].extra["section"] == "S"
    tokens = list(selqa.read_tsv("dev", write("s.tsv", "q ?\ta\t0", "q ?\tb\t1", "r ?\tc\t0", "q ?\td\t0")))
    assert [(p.id, p.question, p.labels) for p in tokens] == [
        ("dev-1", "q ?", [0, 1]),
        ("dev-2", "r ?", [0]),
        ("dev-3", "q ?", [0]),
    ]


@pytest.mark.parametrize(
    ("text", "words"), [("{", "JSONDecodeError"), ('[{"question": "q"}]', "'answers'"), ("[3]", "TypeError")]
)
def test_json_of_another_shape_is_one_clear_line(write: Write, text: str, words: str) -> None:
    with pytest.raises(DataError, match=f"s.json.*expected shape.*{words}.*obtain the file again"):
        list(selqa.read_json("dev", write("s.json", text)))


def test_asnq(write: Write) -> None:
    read = registry.find("dataset", "asnq").splits["dev"].read
    rows = [f"{question}\ts{label}\t{label}" for question, label in (("q", 1), ("q", 4), ("q", 3), ("r", 2))]
    pools = list(read(write("dev.tsv", *rows)))
    assert [(p.question, p.labels) for p in pools] == [("q", [0, 1, 0]), ("r", [0])]
    assert pools[0].candidates[2].extra == {"asnq": 3}


def squad_file(write: Write, **questions: dict[str, object]) -> Path:
    qas = [
        {"id": id, "question": id, "answers": [], "is_impossible": True} | more
        for id, more in questions.items()
    ]
    return write(
        "s.json", json.dumps({"data": [{"title": "T", "paragraphs": [{"context": "It is so.", "qas": qas}]}]})
    )


def test_squad_takes_the_marks_of_rebuilding_off(write: Write) -> None:
    path = squad_file(
        write,
        a={"question": '"is ""it"" so?"', "align_margin": 3.0},
        b={"question": "cross - border - less - 3?", "align_margin": -1.0},
        c={"question": '"all quoted"', "align_margin": 1.0},
        d={"question": 'a "" - b', "is_impossible": False, "in_v2": True},
        e={"question": "e", "is_impossible": False, "in_v2": False},
    )
    pools = list(squad.read_rebuilt(path))
    assert [p.question for p in pools] == [
        'is "it" so?',
        "cross-border-less-3?",
        '"all quoted"',
        'a "" - b',
        "e",
    ]
    assert [p.labels for p in pools] == [[0], [0], [0], [1], [1]]
    assert [p.id for p in squad.strict(pools)] == ["a", "c", "d"]


def test_some_questions_of_squad_are_held_out_and_the_rest_is_learnt_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(squad, "HELD", 7)
    every = [Pool.of("?", ["a"], [1], id=f"{n}") for n in range(20)]
    held, rest = list(squad.held(every)), list(squad.rest(every))
    assert len(held) == 7 and sorted(int(p.id) for p in held + rest) == list(range(20))
    assert [p.id for p in held] == sorted((p.id for p in held), key=int), "in their order"
    assert {p.id for p in squad.held(every[::-1])} == {p.id for p in held}


@pytest.mark.parametrize(
    ("read", "rows", "words"),
    [
        (wikiqa.read_pools, ["h\t" * 6, "a\tb"], "x:2: 2 columns where 7 were expected"),
        (wikiqa.read_pools, ["h\t" * 6, "a\t" * 6 + "yes"], "x:2: label 'yes' is neither 0 nor 1"),
        (trecqa.read_tsv, ["h\t" * 3, "1\tq\ta\tNaN"], "label 'NaN'"),
    ],
)
def test_broken_rows_name_file_and_line(
    write: Write, read: Callable[[Path], list[Pool]], rows: list[str], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        list(read(write("x", *rows)))


@pytest.mark.parametrize("name", registry.OURS["dataset"])
def test_no_reader_lets_a_strange_file_through_as_a_traceback(write: Write, name: str) -> None:
    strange = [
        "",
        "\x00",
        "{}",
        "[]",
        '[{"data": 1}]',
        "a\tb\tc\td",
        "1#2#3",
        '"',
        "<x/>",
        "<QApairs id='1'>",
        "null",
    ]
    for split in registry.find("dataset", name).splits.values():
        for text in strange:
            try:
                pools = list(split.read(*(write(f"f{n}", text) for n, _ in enumerate(split.files))))
            except DemurError as error:
                assert "\n" not in str(error)
            else:
                assert all(isinstance(pool, Pool) for pool in pools)


def test_a_quoted_cell_keeps_its_line_breaks(write: Write) -> None:
    path = write("a.csv", 'who,"one', 'two",1', "when,three,0")
    assert [cells for _, cells in csv_rows(path, 3, ",")] == [
        ["who", "one\ntwo", "1"],
        ["when", "three", "0"],
    ]
