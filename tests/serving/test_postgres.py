"""A server over a base in PostgreSQL: what it does over a folder, and what several over one base share."""

from __future__ import annotations

from pathlib import Path

import pytest

from demur.kb.folder import KnowledgeBase
from kb.places import ON_POSTGRES, on_postgres
from serving.based import TOOLS, lines, over, serving, unembedded

__all__ = ["unembedded"]  # a fixture
pytestmark = [*ON_POSTGRES, pytest.mark.usefixtures("unembedded")]
SECRET = "s3cret"


@pytest.fixture
def address(tmp_path: Path) -> str:
    found = on_postgres().replace("postgres:@", f"postgres:{SECRET}@")
    (tmp_path / "tools.md").write_text(lines(TOOLS), "utf-8")
    KnowledgeBase(found, "none").add(tmp_path / "tools.md")
    return found


def test_documents_labels_and_a_gate(address: str) -> None:
    with serving(address) as one, serving(address) as other:
        kayak = b"# Kayaks\n\nA kayak is lent for nine weeks.\n"
        assert one.post("/v1/documents", params={"name": "kayaks.md"}, content=kayak).status_code == 201
        answer = other.post("/v1/ask", json={"question": "How long is a kayak lent?"}).json()
        assert "nine weeks" in answer["answer"]["text"]
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
        assert one.delete("/v1/documents", params={"name": "kayaks.md"}).status_code == 200
        assert other.get("/v1/documents").json()["total"] == 1
        for path in ("/info", "/v1/documents", "/metrics", "/openapi.json"):
            assert SECRET not in other.get(path).text
