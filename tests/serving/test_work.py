"""The queue: bounded in pairs, in turn, with deadlines; clients that hang up are forgotten."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx2 as httpx
import pytest
from starlette.testclient import TestClient

from demur.asking import Session, packaged
from demur.errors import DemurError
from demur.serving.answering.given import Given
from demur.serving.answering.service import Service
from demur.serving.app import create_app
from demur.serving.messages.bodies import LONGEST, WINDOW
from demur.serving.server import Server, Settings
from serving.made import Held, live, wait_until

GONE = "demur_requests_total", {"path": "/rerank", "status": "499"}
BODY = {"query": "saws?", "texts": ["a", "bb", "ccc"]}


@contextmanager
def holding(settings: Settings | None = None) -> Iterator[tuple[int, Server, Held]]:
    """A server whose ranker answers once it is let go."""
    held = Held()
    with live(Service(Given(held)), settings) as (port, server):
        try:
            yield port, server, held
        finally:
            held.go.set()


def post(port: int, texts: int = 3) -> httpx.Response:
    body = {"query": "saws?", "texts": ["x"] * texts}
    return httpx.post(f"http://127.0.0.1:{port}/rerank", json=body, timeout=60)


def hang_up(port: int, texts: int) -> socket.socket:
    """A connection that has asked and waits."""
    body = json.dumps({"query": "saws?", "texts": ["x"] * texts}).encode()
    head = "POST /rerank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    asking = socket.create_connection(("127.0.0.1", port))
    asking.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return asking


def test_when_the_queue_is_full_clients_are_told_when_to_come_again() -> None:
    with holding(Settings(pairs=10)) as (port, server, held), ThreadPoolExecutor(3) as threads:
        first = threads.submit(post, port, 6)
        held.begun.wait(60)
        refused = post(port, 5)
        assert refused.status_code == 429 and refused.json()["error_type"] == "Overloaded"
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        second = threads.submit(post, port, 4)
        wait_until(lambda: server.queue.waiting == 10)
        held.go.set()
        assert (first.result().status_code, second.result().status_code) == (200, 200)
        wait_until(lambda: server.queue.waiting == 0)
        assert post(port, 10).status_code == 200


def test_more_than_the_queue_holds_is_too_large() -> None:
    with holding(Settings(pairs=10)) as (port, _, held):
        answer = post(port, 11)
        assert (answer.status_code, answer.json()["error_type"]) == (413, "TooLarge")
        assert not held.seen


def test_health_and_metrics_answer_while_the_worker_is_busy() -> None:
    with holding() as (port, _, held), ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(post, port)
        held.begun.wait(60)
        assert httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200
        assert "demur_queue_pairs 3.0" in httpx.get(f"http://127.0.0.1:{port}/metrics").text
        held.go.set()
        assert waiting.result().status_code == 200


def test_a_request_has_a_deadline() -> None:
    with holding(Settings(deadline=0.5)) as (port, _, held), ThreadPoolExecutor(1) as threads:
        first = threads.submit(post, port)
        held.begun.wait(60)
        second = post(port)
        assert second.status_code == 429 and "not finished within 0.5 s" in second.json()["message"]
        assert second.headers["Retry-After"]
        alone = first.result()
        assert alone.status_code == 413 and "even when nothing else waits" in alone.json()["message"]
        assert "Retry-After" not in alone.headers, "it would never be met"


def test_who_hangs_up_while_waiting_is_never_read() -> None:
    with holding() as (port, server, held), ThreadPoolExecutor(1) as threads:
        first = threads.submit(post, port, 1)
        held.begun.wait(60)
        asking = [hang_up(port, 7) for _ in range(5)]
        wait_until(lambda: server.queue.waiting == 1 + 5 * 7)
        for each in asking:
            each.close()
        wait_until(lambda: server.queue.waiting == 1)
        held.go.set()
        assert first.result().status_code == 200 and post(port, 2).status_code == 200
        assert 7 not in held.seen, "nobody would have read what it costs to score these"


def test_who_hangs_up_in_the_middle_frees_the_worker_at_the_next_portion() -> None:
    with holding() as (port, server, held):
        asking = hang_up(port, 1000)
        held.begun.wait(60)
        asking.close()
        wait_until(lambda: server.figures.registry.get_sample_value(*GONE) == 1)
        held.go.set()
        wait_until(lambda: server.queue.waiting == 0)
        assert sum(held.seen) < 1000


def test_small_requests_that_wait_are_scored_together() -> None:
    def lengths(first: int, texts: int) -> dict[int, float]:
        """The raw score of each text, which is its length."""
        made = ["x" * (first + at) for at in range(texts)]
        body = {"query": f"{first}?", "texts": made, "raw_scores": True}
        answer = httpx.post(f"http://127.0.0.1:{port}/rerank", json=body, timeout=60)
        return {row["index"]: row["score"] for row in answer.json()}

    with holding() as (port, server, held), ThreadPoolExecutor(5) as threads:
        first = threads.submit(post, port, 1)
        held.begun.wait(60)
        asked = [(900, 2), (500, 3), (1, 252)]
        waiting = [threads.submit(lengths, *each) for each in asked]
        wait_until(lambda: server.queue.waiting == 258)
        held.go.set()
        for (shortest, texts), each in zip(asked, waiting, strict=True):
            assert each.result() == {at: shortest + at for at in range(texts)}, "its own texts' scores"
        assert first.result().status_code == 200
        assert sorted(held.seen) in ([1, 5, 252], [1, 2, 255], [1, 3, 254]), "two of them at once"


def test_a_long_text_counts_for_each_of_its_windows() -> None:
    with holding() as (port, server, held), ThreadPoolExecutor(1) as threads:
        body = {"query": "saws?", "texts": ["x" * LONGEST, "short", ""]}
        waiting = threads.submit(httpx.post, f"http://127.0.0.1:{port}/rerank", json=body, timeout=60)
        held.begun.wait(60)
        assert server.queue.waiting == LONGEST / WINDOW + 2
        held.go.set()
        assert waiting.result().status_code == 200


@pytest.mark.skipif(not packaged.there(), reason="no packaged model in this copy")
def test_a_long_text_is_given_up_among_its_windows() -> None:
    body = {"query": "saws?", "texts": ["Saws are lent for three weeks. " * (LONGEST // 31)]}
    with live(Service(Given.open("mini")), Settings(deadline=0.5)) as (port, server):
        answer = httpx.post(f"http://127.0.0.1:{port}/rerank", json=body, timeout=60)
        assert answer.status_code == 413, "it takes far longer than that"
        wait_until(lambda: server.queue.waiting == 0)  # or not within half a minute


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/rerank", {"query": "?", "texts": ["x" * (LONGEST + 1)]}),
        ("/v2/rerank", {"query": "?", "documents": ["x" * (LONGEST + 1)]}),
        ("/v1/rerank", {"query": "?", "documents": [{"text": "x" * (LONGEST + 1)}]}),
        ("/", {"inputs": {"question": "?", "context": "x" * (LONGEST + 1)}}),
    ],
)
def test_a_text_may_be_so_long_and_no_longer(path: str, body: dict[str, object]) -> None:
    with holding() as (port, _, held):
        answer = httpx.post(f"http://127.0.0.1:{port}{path}", json=body, timeout=60)
        assert answer.status_code == 422 and f"at most {LONGEST} characters" in answer.json()["message"]
        assert not held.seen


def test_while_it_loads_it_says_so_and_is_healthy() -> None:
    held = Held()

    def slowly() -> Service:
        held.go.wait(60)
        return Service(Given(held))

    app = create_app(slowly)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert client.get("/health").status_code == 200
        early = client.get("/ready"), client.post("/rerank", json=BODY)
        held.go.set()
        wait_until(lambda: client.get("/ready").status_code == 200)
        assert client.post("/rerank", json=BODY).status_code == 200
    assert [each.status_code for each in early] == [503, 503]
    assert all(each.headers["Retry-After"] and each.json()["error_type"] == "Unhealthy" for each in early)


def test_a_service_that_cannot_be_opened_says_so_whatever_went_wrong(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken() -> Service:
        raise TypeError("nobody thought of this")

    told: list[DemurError] = []
    app = create_app(broken, on_failure=told.append)
    with TestClient(app, base_url="http://127.0.0.1"):
        wait_until(lambda: bool(told))
    assert str(told[0]).startswith("TypeError: nobody thought of this; this is a bug")
    assert "Traceback" in caplog.text


@pytest.mark.parametrize("texts", [1, 256, 257, 700])
def test_portions_come_to_what_all_at_once_does(texts: int) -> None:
    held = Held()
    held.go.set()
    many = ["x" * (1 + (n * 37) % 101) for n in range(texts)]
    ranking = Given(held).rank("?", many)
    assert [each.id for each in ranking.candidates] == [each.id for each in held.rank("?", many).candidates]
    assert ranking.scores == held.rank("?", many).scores


def test_questions_to_documents_are_counted_too() -> None:
    with live(Service(Given(Held()), Session.open(["Saws."], "bm25"))) as (port, server):
        answer = httpx.post(f"http://127.0.0.1:{port}/v1/ask", json={"question": "saws?"})
        assert answer.status_code == 200 and not answer.json()["abstained"]
        assert server.figures.registry.get_sample_value("demur_pairs_total") == 50
