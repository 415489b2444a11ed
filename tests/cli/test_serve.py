"""`demur serve` as its operator meets it: how it starts, what it logs, how it stops."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

from demur.asking import packaged
from demur.kb.folder import KnowledgeBase
from demur.serving.process import running as running_server

KEY = "a-key-that-nobody-guesses"
QUESTION = "what is the secret of saws?"


class Running:
    """A server of its own process, and what it writes to stderr."""

    def __init__(self, *words: object) -> None:
        command = [sys.executable, "-m", "demur", "serve", "--port", "0", *map(str, words)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8")
        assert self.process.stderr is not None
        self.errors = self.process.stderr
        first = self.errors.readline()
        assert first.startswith("demur serves on http://127.0.0.1:"), first
        self.url = first.split()[3].rstrip(";")
        self.lines = [self.errors.readline()]  # that it is ready
        assert json.loads(self.lines[0])["message"] == "ready"

    def stop(self) -> list[str]:
        """All that it wrote to its log; it has ended well."""
        self.process.send_signal(signal.SIGTERM)
        self.lines += self.errors.readlines()
        assert self.process.wait(60) == 0, self.lines
        return self.lines


@contextmanager
def running(*words: object) -> Iterator[Running]:
    server = Running(*words)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()
        server.errors.close()


def refused(*words: object) -> str:
    command = [sys.executable, "-m", "demur", "serve", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("demur serves on")]
    assert done.returncode == 2 and done.stdout == "" and len(lines) == 1, done.stderr
    return lines[0]


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    path = tmp_path / "guide.md"
    path.write_text("# Saws\n\nSaws are lent for three weeks.\n", "utf-8")
    return path


def test_it_logs_a_line_of_json_a_request_and_neither_keys_nor_texts(guide: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys.txt"
    keys.write_text(f"# ours\n{KEY}\n", "utf-8")
    with running("--from", guide, "--ranker", "bm25", "--key-file", keys) as server:
        right = {"Authorization": f"Bearer {KEY}"}
        body = {"question": QUESTION}
        said = httpx.post(f"{server.url}/v1/ask?token={KEY}", json=body, headers=right)
        assert said.json()["answer"]["text"] == "Saws are lent for three weeks."
        wrong = httpx.post(f"{server.url}/v1/ask", json=body, headers={"Authorization": f"Bearer {KEY}x"})
        figures = httpx.get(f"{server.url}/metrics").text
        lines = server.stop()
    assert (said.status_code, wrong.status_code) == (200, 401)
    told = [json.loads(line) for line in lines]
    requests = [(each["path"], each["status"]) for each in told if each["message"] == "request"]
    assert requests == [("/v1/ask", 200), ("/v1/ask", 401), ("/metrics", 200)]
    assert all(each["seconds"] >= 0 and each["id"] for each in told if each["message"] == "request")
    for secret in (KEY, QUESTION, "secret", "three weeks"):
        assert secret not in "".join([*lines, figures, wrong.text])
    assert 'demur_requests_total{path="/v1/ask",status="200"} 1.0' in figures


def test_questions_are_logged_where_that_is_asked_for_and_nothing_where_not(guide: Path) -> None:
    for words, wanted in (("--log-questions", True), ("--no-access-log", False)):
        with running("--from", guide, "--ranker", "bm25", words) as server:
            httpx.post(f"{server.url}/v1/ask", json={"question": QUESTION})
            assert any(QUESTION in line for line in server.stop()[1:]) is wanted


@pytest.mark.skipif(not packaged.there(), reason="the packaged model is not here")
def test_what_was_taken_on_is_finished(guide: Path) -> None:
    """A request that is being answered when the server is told to stop gets its answer."""
    with running("--ranker", "mini(threads=1)", "--gate", "none") as server:
        body = {"query": QUESTION, "texts": [f"{n} saws are lent for three weeks. " * 40 for n in range(100)]}
        answers: list[httpx.Response] = []

        def ask() -> None:
            answers.append(httpx.post(f"{server.url}/rerank", json=body, timeout=120))

        asking = threading.Thread(target=ask)
        asking.start()
        while asking.is_alive() and "queue_pairs 200.0" not in httpx.get(f"{server.url}/metrics").text:
            pass
        assert not answers, "the texts are too few to be stopped among them"
        server.stop()
        asking.join()
    assert answers[0].status_code == 200 and len(answers[0].json()) == 100


def test_what_cannot_be_served_is_said_in_one_line(guide: Path, tmp_path: Path) -> None:
    assert "no such file" in refused("--from", tmp_path / "nowhere.md")
    assert "--example, not both" in refused("--from", guide, "--example")
    assert "give it keys with --key-file" in refused("--host", "0.0.0.0")
    empty = tmp_path / "keys.txt"
    empty.write_text("# none\n", "utf-8")
    assert "holds no key" in refused("--key-file", empty)
    empty.write_text("plain\nschlüssel\n", "utf-8")
    assert "key 2 has characters that a header may not carry" in refused("--key-file", empty)
    assert "unknown ranker" in refused("--ranker", "nobody", "--port", "0")
    assert "no such file" in refused("--gate", "nowhere.json", "--port", "0")
    (tmp_path / "two.txt").write_bytes(b"\0\1\n")
    assert "binary" in refused("--from", tmp_path / "two.txt", "--port", "0", "--ranker", "bm25")


def test_a_knowledge_base_is_served_and_what_is_sent_is_there_after_a_stop(
    guide: Path, tmp_path: Path
) -> None:
    base = tmp_path / "guide.kb"
    KnowledgeBase(base).add(guide)
    body = {"question": "for how many weeks are ladders lent?"}
    with running("--kb", base, "--ranker", "bm25") as server:
        text = b"Ladders are lent for two weeks.\n"
        sent = httpx.post(f"{server.url}/v1/documents?name=ladders.md", content=text, timeout=60)
        assert sent.status_code == 201
        server.stop()
    with running("--kb", base, "--ranker", "bm25", "--read-only") as server:
        said = httpx.post(f"{server.url}/v1/ask", json=body, timeout=60).json()
        assert said["answer"]["text"] == "Ladders are lent for two weeks."
        refused_here = httpx.delete(f"{server.url}/v1/documents?name=ladders.md", timeout=60)
        assert refused_here.status_code == 403
        server.stop()
    assert "there is no knowledge base" in refused("--kb", tmp_path / "nowhere.kb")


def test_the_example_is_a_base_with_questions_to_label() -> None:
    with running("--example") as server:  # its first line says it is ready, not that vectors are missing
        assert httpx.get(server.url, timeout=60).text.startswith("<!doctype html>")
        told = httpx.get(f"{server.url}/v1/labels", timeout=60).json()
        assert (told["labelled"], told["waiting"]) == (0, 40)
        server.stop()


def test_garbage_is_looked_for_once_it_is_ready_and_not_in_what_was_there_before() -> None:
    code = """if True:
    import gc
    from demur.cli.options.services import collecting_later
    from demur.errors import UsageError
    from demur.serving.process.running import run
    from demur.serving.server import Settings

    frozen = gc.get_freeze_count()

    def opening():
        print(gc.isenabled(), gc.get_freeze_count() - frozen)
        raise UsageError("nothing to open")

    def announce(url):
        pass

    try:
        with collecting_later():
            try:
                run(opening, Settings(), "127.0.0.1", 0, announce)
            finally:
                print(gc.isenabled(), gc.get_freeze_count() > frozen + 10_000)
                gc.disable()
    except UsageError as error:
        print(gc.isenabled(), error)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False 0", "True True", "True nothing to open"]


def test_answers_go_at_once_and_do_not_wait_for_their_head_to_be_confirmed() -> None:
    """As a connection that waits loses 40 ms with each answer."""

    async def delays() -> int:
        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = writer.get_extra_info("socket")
            found.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = running_server.listen("127.0.0.1", 0)
        async with await asyncio.start_server(met, sock=listening):
            _, writer = await asyncio.open_connection(*listening.getsockname())
            value = await found
            writer.close()
            return value

    assert asyncio.run(delays()) == 1


def test_a_port_that_is_taken_is_said(guide: Path) -> None:
    with running("--from", guide, "--ranker", "bm25") as server:
        port = server.url.rpartition(":")[2]
        assert "cannot listen on" in refused("--from", guide, "--port", port)
        assert server.stop()
