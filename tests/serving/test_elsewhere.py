"""A server over a base in PostgreSQL or on an object store: what several over one base share."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from demur.kb.folder import KnowledgeBase
from kb.places import SECRET, address, away
from serving.based import TOOLS, answered, drop, lines, over, put, serving, unembedded
from serving.made import wait_until

__all__ = ["address", "unembedded"]  # fixtures
pytestmark = pytest.mark.usefixtures("unembedded")
KAYAKS = "# Kayaks\n\nA kayak is lent for nine weeks.\n"
ASKED = "How long is a kayak lent?"


@pytest.fixture
def base(address: str, tmp_path: Path) -> str:
    """The address of a base of tools; the password is part of it where one can be."""
    found = address.replace("postgres:@", f"postgres:{SECRET}@")
    (tmp_path / "tools.md").write_text(lines(TOOLS), "utf-8")
    KnowledgeBase(found, "none").add(tmp_path / "tools.md")
    return found


def test_documents_labels_and_a_gate(base: str) -> None:
    with serving(base) as one, serving(base) as other:
        put(one, "kayaks.md", KAYAKS)
        assert "nine weeks" in str(answered(other, ASKED))
        for tool in TOOLS[:60]:
            question = f"For how long is a {tool} lent?"
            (best,) = one.post("/v1/ask", json={"question": question, "top": 1}).json()["ranking"]
            assert tool in best["text"]
            told = one.post("/v1/labels", json={"question": question, "right": [best["id"]]})
            assert told.status_code == 201, told.text
        told = one.post("/v1/calibrate", json={"risk": 0.2}).json()
        assert "id" not in told or over(one, told["id"])["error"] is None
        answer = other.post("/v1/ask", json={"question": "For how long is a toolaa lent?"}).json()
        promise = answer["certificate"]
        assert promise["risk"] == 0.2 and promise["generation"] == 2 and not promise["lapsed"]
        assert drop(one, "kayaks.md")["status"] == "removed"
        assert other.get("/v1/documents").json()["total"] == 1
        for path in ("/info", "/v1/documents", "/metrics", "/openapi.json"):
            assert SECRET not in other.get(path).text


def test_a_server_that_is_started_again_finds_the_same_base(base: str) -> None:
    asked = [ASKED, "For how long is a toolab lent?", "toolac lent days"]
    with serving(base) as one:
        put(one, "kayaks.md", KAYAKS)
        before = answers(one, asked), one.get("/v1/documents").json()
    with serving(base) as again:
        assert (answers(again, asked), again.get("/v1/documents").json()) == before
        assert drop(again, "kayaks.md")["status"] == "removed"
    with serving(base) as last:
        assert "nine weeks" not in str(answered(last, ASKED))
        assert last.get("/v1/documents").json()["total"] == 1


def test_while_the_store_is_away_there_is_one_clear_line_and_then_it_goes_on(base: str) -> None:
    with serving(base) as client:
        put(client, "kayaks.md", KAYAKS)
        before = answers(client, [ASKED])
        with away(base):
            for answer in (
                client.post("/v1/ask", json={"question": "For how long is a toolad lent?"}),
                client.post("/v1/documents", params={"name": "tents.md"}, content=KAYAKS.encode()),
                client.delete("/v1/documents", params={"name": "kayaks.md"}),
            ):
                told = answer.json()
                message = str(over(client, told["id"])["error"] if "id" in told else told["message"])
                assert answer.status_code in (202, 503) and "cannot be reached" in message, told
                assert "\n" not in message and SECRET not in message and "127.0.0.1" not in message
        wait_until(lambda: client.post("/v1/ask", json={"question": ASKED}).status_code == 200)
        assert answers(client, [ASKED]) == before
        assert client.get("/v1/documents").json()["total"] == 2
        put(client, "tents.md", "# Tents\n\nA tent is lent for four weeks.\n")
        assert "four weeks" in str(answered(client, "How long is a tent lent?"))


def answers(client: TestClient, questions: list[str]) -> list[object]:
    """What is found for some questions, with its scores."""
    return [client.post("/v1/ask", json={"question": each}).json()["ranking"] for each in questions]
