"""SogouRC's loader, on queries that are made up in the form that its contest had."""

from __future__ import annotations

import json

import pytest

from data.loaded import Write
from demur.data.loaders import sogourc
from demur.errors import DataError
from demur.reading.published import answer_of, golds

QUERY = {
    "query_id": 17,
    "query": "窑在哪里 ",
    "answer": "都灵",
    "type": "factoid",
    "passages": [
        {"passage_id": 3, "passage_text": "第一座窑在都灵，都灵很大。", "url": "x"},
        {"passage_text": "磨坊很旧。"},
    ],
}


def test_each_passage_is_a_question_of_squads_kind(write: Write) -> None:
    several = {**QUERY, "query_id": "b", "answer": ["磨坊", "都灵", "", "磨坊"]}
    pools = list(sogourc.read_pools(write("s.jsonl", json.dumps(QUERY), "", json.dumps(several))))
    assert [(pool.id, pool.question, pool.labels) for pool in pools] == [
        ("17-3", "窑在哪里", [1]),
        ("17-1", "窑在哪里", [0]),
        ("b-3", "窑在哪里", [1]),
        ("b-1", "窑在哪里", [1]),
    ]
    assert [golds(pool) for pool in pools] == [["都灵"], [], ["都灵"], ["磨坊"]]
    assert pools[0].extra == {"query": "17", "answers": [{"text": "都灵", "answer_start": 5}]}
    assert answer_of(pools[0]) == (5, 7) and answer_of(pools[1]) is None, "as readers learn from it"


@pytest.mark.parametrize(
    "broken",
    [
        "{",
        json.dumps({key: value for key, value in QUERY.items() if key != "answer"}),
        json.dumps({**QUERY, "answer": None}),
        json.dumps({**QUERY, "passages": [{"passage_id": 1}]}),
    ],
)
def test_what_is_broken_is_one_line_with_its_place(write: Write, broken: str) -> None:
    with pytest.raises(DataError, match=r"s\.jsonl:2: not of the expected shape") as caught:
        list(sogourc.read_pools(write("s.jsonl", json.dumps(QUERY), broken)))
    assert "\n" not in str(caught.value)
