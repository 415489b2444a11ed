"""Over HTTP a question is the same in any spelling, and what is brought to be labelled is kept or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from demur.kb.store import asked
from demur.serving.server import Settings
from serving.based import made, serving, unembedded

__all__ = ["unembedded"]  # a fixture
pytestmark = pytest.mark.usefixtures("unembedded")


def standing(client: TestClient) -> tuple[int, int, int]:
    """How many questions are labelled, how many of them have an answer, and how many wait."""
    told = client.get("/v1/labels").json()
    return told["labelled"], told["answerable"], told["waiting"]


def test_labels_are_deleted_in_any_spelling_and_no_older_one_comes_back(tmp_path: Path) -> None:
    with serving(made(tmp_path)) as client:
        (best,) = client.post("/v1/ask", json={"question": "Saws?", "top": 1}).json()["ranking"]
        for question, right in (("How long are saws lent?", [best["id"]]), ("how long are SAWS lent", [])):
            said = client.post("/v1/labels", json={"question": question, "right": right})
            assert said.status_code == 201
        assert standing(client) == (1, 0, 0)
        deleted = client.delete("/v1/labels", params={"question": "How long are saws lent!"})
        assert deleted.status_code == 200
        assert standing(client) == (0, 0, 1), "it waits again, once"
        again = client.delete("/v1/labels", params={"question": "How long are saws lent?"})
        assert again.status_code == 404


def test_a_list_is_kept_or_refused_and_what_people_ask_gives_way_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked, "MOST", 10)
    with serving(made(tmp_path), Settings(keep_questions=True)) as client:

        def bring(start: int, many: int) -> tuple[int, object]:
            some = [f"question {n}?" for n in range(start, start + many)]
            answer = client.post("/v1/questions", json={"questions": some})
            return answer.status_code, answer.json().get("kept", answer.json().get("message"))

        for question in ("Saws?", "Ladders?", "question 3?"):
            assert client.post("/v1/ask", json={"question": question}).status_code == 200
        assert bring(0, 6) == (201, 5), "one was asked before"
        status, message = bring(6, 6)
        assert status == 422 and "6 new questions to label are 2 too many" in str(message)
        assert standing(client) == (0, 0, 8)
        assert bring(6, 4) == (201, 4) and standing(client) == (0, 0, 10)
        client.post("/v1/ask", json={"question": "Drills?"})
        assert standing(client) == (0, 0, 10)
        assert bring(0, 10) == (201, 0), "all are there"
