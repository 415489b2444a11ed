"""What people ask a server is kept to be labelled, if that is wanted, and no answer waits for it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from demur.errors import UsageError
from demur.kb.folder import KnowledgeBase
from demur.serving.server import Settings
from serving.based import TOOLS, answered, serving, unembedded
from serving.test_labels import base, question

__all__ = ["unembedded"]  # a fixture
pytestmark = pytest.mark.usefixtures("unembedded")


def test_what_people_ask_is_kept_only_if_that_is_wanted(tmp_path: Path) -> None:
    path = base(tmp_path)
    for wanted in (False, True):
        with serving(path, Settings(keep_questions=wanted)) as client:
            answered(client, question(TOOLS[3]))
            assert client.get("/v1/labels").json()["waiting"] == int(wanted)


def test_an_answer_is_given_also_if_the_question_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def busy(kb: KnowledgeBase, questions: object, logged: bool = False) -> int:
        raise UsageError("tools.kb: another process writes to it; try again when it is done")

    monkeypatch.setattr(logging.getLogger("demur.serving"), "propagate", True)
    monkeypatch.setattr(KnowledgeBase, "keep_questions", busy)
    with serving(base(tmp_path), Settings(keep_questions=True)) as client:
        found = answered(client, question(TOOLS[3]))
        assert found is not None and TOOLS[3] in found
    assert "a question was not kept to be labelled: the knowledge base is being written to" in caplog.text
    assert question(TOOLS[3]) not in caplog.text
