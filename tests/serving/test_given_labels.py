"""What is sent as a label or a question to label: what contradicts itself, and what is there already."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from serving.based import TOOLS, lines, made, serving, unembedded

__all__ = ["unembedded"]  # a fixture
pytestmark = pytest.mark.usefixtures("unembedded")
ASKED = "For how long is a toolaa lent?"


def test_no_passage_is_both_right_and_wrong(tmp_path: Path) -> None:
    with serving(made(tmp_path)) as client:
        answer = client.post("/v1/labels", json={"question": "q", "right": [1], "wrong": [1]})
        assert answer.status_code == 422 and "cannot be right and wrong" in answer.json()["message"]
        assert client.get("/v1/labels").json()["labelled"] == 0


def test_a_passage_that_is_named_twice_is_one_label(tmp_path: Path) -> None:
    with serving(made(tmp_path)) as client:
        best = client.post("/v1/ask", json={"question": ASKED, "top": 1}).json()["ranking"][0]
        place = client.get("/v1/labels/next", params={"question": ASKED}).json()["passages"][0]["passage"]
        body = {"question": ASKED, "right": [best["id"], place, place]}
        assert client.post("/v1/labels", json=body).json() == {"kept": 1}


def test_a_question_that_differs_in_case_alone_is_not_new(tmp_path: Path) -> None:
    with serving(made(tmp_path)) as client:
        for some, new in ((["Who?", "WHO", "When?"], 2), (["who?", "WHEN?", "Where?"], 1)):
            assert client.post("/v1/questions", json={"questions": some}).json() == {"kept": new}
        assert client.get("/v1/labels").json()["waiting"] == 3


def test_only_passages_that_are_shown_are_exported(tmp_path: Path) -> None:
    with serving(made(tmp_path, {"tools.md": lines(TOOLS[:40])})) as client:
        found = client.get("/v1/labels/next", params={"question": ASKED}).json()["passages"]
        shown = {each["text"] for each in found}
        assert len(shown) == 9
        client.post("/v1/labels", json={"question": ASKED, "right": [found[0]["passage"]]})
        pool = json.loads(client.get("/v1/labels/export?part=all").text)
        assert {each["text"] for each in pool["candidates"]} == shown
        assert [each["label"] for each in pool["candidates"]] == [1] + [0] * 8
