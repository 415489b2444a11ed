"""Figures are those of the base as it is now, and are told whatever becomes of it."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from demur.kb.folder import KnowledgeBase
from demur.serving import server
from demur.serving.answering.base import Base
from serving.based import lines, made, put, serving, unembedded
from serving.made import server_of
from serving.test_labels import base, gated

__all__ = ["unembedded"]  # a fixture
pytestmark = pytest.mark.usefixtures("unembedded")


def figure(client: TestClient, name: str) -> float:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    return next(float(line.split()[1]) for line in answer.text.splitlines() if line.startswith(f"{name} "))


def test_they_follow_the_base_though_nobody_asks(tmp_path: Path) -> None:
    path = made(tmp_path)
    with serving(path) as client:
        before = figure(client, "demur_generation"), figure(client, "demur_passages")
        generation = put(client, "kayaks.md", "A kayak is lent for four days.\n")["generation"]
        assert figure(client, "demur_generation") == generation == before[0] + 1
        assert figure(client, "demur_passages") == before[1] + 1
        other = KnowledgeBase(path)
        other.remove("kayaks.md")
        other.close()
        assert (figure(client, "demur_generation"), figure(client, "demur_passages")) == (
            before[0] + 2,
            before[1],
        )


def test_a_lapsed_promise_is_told_though_nobody_asks(tmp_path: Path) -> None:
    with serving(base(tmp_path), lapse=0.2) as client:
        gated(client)
        assert figure(client, "demur_gate_lapsed") == figure(client, "demur_changed_share") == 0
        put(client, "much.md", lines([f"boat{n}" for n in range(60)]))
        assert figure(client, "demur_changed_share") > 0.2
        assert figure(client, "demur_gate_lapsed") == 1


def test_they_are_told_where_the_base_is_gone(tmp_path: Path) -> None:
    path = made(tmp_path)
    with serving(path) as client:
        before = figure(client, "demur_generation")
        shutil.rmtree(path)
        assert figure(client, "demur_generation") == before


def test_they_do_not_wait_for_a_base_that_takes_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = list[int](), threading.Event()

    def slow(self: Base) -> None:
        begun.append(1)
        assert go.wait(60)

    monkeypatch.setattr(server, "_FOLLOW", 0.05)
    with serving(made(tmp_path)) as client:
        with monkeypatch.context() as away:
            away.setattr(Base, "current", slow)
            assert [figure(client, "demur_generation") for _ in range(3)] == [1, 1, 1]
            assert begun == [1], "one look at a time"
            go.set()
        put(client, "kayaks.md", "A kayak is lent for four days.\n")


def test_they_do_not_wait_for_a_question(tmp_path: Path) -> None:
    with serving(made(tmp_path)) as client:
        base = server_of(client).base()
        with base._asking:  # as if one were being answered
            put(client, "kayaks.md", "A kayak is lent for four days.\n")
            looking = threading.Thread(target=base.follow, daemon=True)
            looking.start()
            looking.join(30)
            assert not looking.is_alive() and figure(client, "demur_generation") == 1
        assert figure(client, "demur_generation") == 2
