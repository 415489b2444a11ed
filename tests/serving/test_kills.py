"""A server that is killed while several clients send documents and labels: what was acknowledged is there."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path

import httpx2 as httpx
import pytest

from demur.kb.folder import KnowledgeBase
from demur.kb.store.folder import UPLOADS
from demur.serving.guards import uploads
from demur.serving.messages.problems import Refusal
from serving.based import made
from serving.made import wait_until

TURNS = 30


def write(url: str, whose: str, sent: set[str], dropped: set[str], labelled: set[str]) -> None:
    """Send documents and labels until the server is gone, and note what it acknowledged; one removes them."""
    with httpx.Client(base_url=url, timeout=60) as client, suppress(httpx.HTTPError):
        for number in count():
            name = f"note-{whose}-{number}.md"
            text = f"Note {whose} number {number} says {name}.\n"
            answer = client.post("/v1/documents", params={"name": name}, content=text.encode())
            sent |= {name} if answer.status_code in (201, 202) else set()
            if whose.endswith("-0"):
                sent -= {name}
                answer = client.delete("/v1/documents", params={"name": name})
                dropped |= {name} if answer.status_code in (200, 202) else set()
            answer = client.post("/v1/labels", json={"question": f"about {name}?", "right": []})
            labelled |= {f"about {name}?"} if answer.status_code == 201 else set()


@pytest.mark.slow
def test_what_was_acknowledged_survives_kills(tmp_path: Path) -> None:
    path = made(tmp_path)
    sent: set[str] = set()
    dropped: set[str] = set()
    labelled: set[str] = set()
    for turn in range(TURNS):
        before = len(sent) + len(labelled)
        command = [sys.executable, "-m", "demur", "serve", "--kb", str(path), "--ranker", "bm25"]
        with subprocess.Popen([*command, "--port", "0"], stderr=subprocess.PIPE, text=True) as server:
            assert server.stderr is not None
            url = server.stderr.readline().split()[3].rstrip(";")
            told = iter(server.stderr.readline, "")  # of what was sent before the kill, too
            assert any(json.loads(line)["message"] == "ready" for line in told)
            writing = [
                threading.Thread(target=write, args=(url, f"{turn}-{n}", sent, dropped, labelled))
                for n in range(3)
            ]
            for each in writing:
                each.start()
            wait_until(lambda: len(sent) + len(labelled) > before + turn % 5)  # noqa: B023
            server.kill()
            for each in writing:
                each.join()
    kb = KnowledgeBase(path)
    for change in uploads.left(path / UPLOADS):  # as the next server does
        with suppress(Refusal):  # it was removed, and a kill came before that was noted
            change.put(kb)
        change.drop()
    orphan = path / UPLOADS / "0.json"
    orphan.write_text(
        json.dumps({"name": "a.md", "file": "0.md"}), "utf-8"
    )  # a kill came between two removals
    assert not uploads.left(path / UPLOADS) and not orphan.exists()
    kb.refresh()
    names = {name for name, _, _ in kb.sources()}
    assert sent and sent <= names
    assert dropped and not dropped & names
    assert labelled and labelled <= {each.question for each in kb.labels()}
