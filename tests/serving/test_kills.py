"""A server that is killed while documents are sent and labels are given: what was acknowledged is there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import httpx2 as httpx
import pytest

from demur.kb.folder import KnowledgeBase
from demur.serving import uploads
from serving.based import made

TURNS = 30


@pytest.mark.slow
def test_what_was_acknowledged_survives_kills(tmp_path: Path) -> None:
    path = made(tmp_path)
    sent: set[str] = set()
    labelled: set[str] = set()
    for turn in range(TURNS):
        command = [sys.executable, "-m", "demur", "serve", "--kb", str(path), "--ranker", "bm25"]
        with subprocess.Popen([*command, "--port", "0"], stderr=subprocess.PIPE, text=True) as server:
            assert server.stderr is not None
            url = server.stderr.readline().split()[3].rstrip(";")
            assert json.loads(server.stderr.readline())["message"] == "ready"
            for number in range(2 + turn % 5):
                name = f"note-{turn}-{number}.md"
                text = f"Note {turn} number {number} says {name}.\n"
                answer = httpx.post(
                    f"{url}/v1/documents", params={"name": name}, content=text.encode(), timeout=60
                )
                sent |= {name} if answer.status_code in (201, 202) else set()
                answer = httpx.post(f"{url}/v1/labels", json={"question": f"about {name}?"}, timeout=60)
                labelled |= {f"about {name}?"} if answer.status_code == 201 else set()
            server.kill()
    kb = KnowledgeBase(path)
    for upload in uploads.left(path):  # as the next server does
        upload.put(kb)
    kb.refresh()
    assert sent and sent <= {name for name, _, _ in kb.sources()}
    assert labelled and labelled <= {each.question for each in kb.labels()}
