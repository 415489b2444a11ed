"""The first mistakes of who writes a client: each is told with what to do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from serving.made import asked

AS_JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with asked() as found:
        yield found


@pytest.mark.parametrize(
    ("path", "body", "headers", "message"),
    [
        ("/rerank", b'{"query": "q", "texts": ["a"]}', {}, "Content-Type: application/json"),
        ("/rerank", b'{"query": "q",', AS_JSON, "the body is not JSON: "),
        ("/rerank", b"", AS_JSON, "the body is empty; send JSON"),
        ("/rerank", b'{"query": " ", "texts": ["a"]}', AS_JSON, "query: it must not be blank"),
        ("/rerank", b'{"query": "q", "x": ' + b"1" * 5000 + b"}", AS_JSON, "cannot be read as JSON"),
        (
            "/rerank",
            b'{"query": "q", "documents": [{"title": "x"}]}',
            AS_JSON,
            "documents.0.text: Field required",
        ),
        ("/v1/labels", b'{"question": "q", "rigth": [7]}', AS_JSON, "right: Field required"),
    ],
)
def test_a_first_mistake_is_told_with_what_to_do(
    client: TestClient, path: str, body: bytes, headers: dict[str, str], message: str
) -> None:
    answer = client.post(path, content=body, headers=headers)
    assert answer.status_code == 422 and message in answer.json()["message"]
    assert "constrained-str" not in answer.text and "Document." not in answer.text


def test_other_paths_and_methods_say_what_there_is(client: TestClient) -> None:
    assert "/openapi.json lists" in client.get("/nope").json()["message"]
    answer = client.put("/openapi.json")
    assert answer.status_code == 405 and answer.headers["allow"] == "GET, HEAD"
