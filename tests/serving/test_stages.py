"""`demur_seconds`: each stage is seen after a request that goes through it, and after no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from serving.made import QUESTION, TEXTS, asked, server_of, service

RANKED = {"query": QUESTION, "documents": TEXTS}
QUOTED = {"inputs": {"question": QUESTION, "context": TEXTS[1]}}
STAGES = {"wait", "work", "score", "quote", "ask"}
DOCS = Path(__file__).parents[2] / "docs" / "serve.md"


def told(client: TestClient, what: str) -> dict[str, float]:
    """A figure of each stage that is told, as Prometheus reads it."""
    page = client.get("/metrics").text
    return {
        stage: float(found)
        for stage, found in re.findall(rf'^demur_seconds_{what}{{stage="(\w+)"}} (\S+)$', page, re.M)
    }


@pytest.mark.parametrize(
    ("path", "body", "stages"),
    [
        ("/rerank", {"query": QUESTION, "texts": TEXTS}, {"wait", "work", "score"}),
        ("/v1/rerank", RANKED, {"wait", "work", "score"}),
        ("/v2/rerank", {**RANKED, "relevant_spans": {}}, {"wait", "work", "score", "quote"}),
        ("/", QUOTED, {"wait", "work", "quote"}),
        ("/v1/ask", {"question": QUESTION}, {"wait", "work", "ask"}),
    ],
)
def test_a_request_is_seen_in_its_stages_and_in_no_other(path: str, body: Any, stages: set[str]) -> None:
    with asked(service()) as client:
        assert told(client, "count") == {}, "nobody has asked"
        for turn in (1, 2):
            assert client.post(path, json=body).status_code == 200
            assert told(client, "count") == dict.fromkeys(stages, turn)
        seconds = told(client, "sum")
        assert all(each > 0 for each in seconds.values())
        inside = sum(seconds[each] for each in stages - {"wait", "work"})
        assert inside <= seconds["work"], "they are parts of the work"


def test_what_is_refused_is_in_no_stage() -> None:
    with asked(service()) as client:
        assert client.post("/v1/ask", json={"question": " "}).status_code == 422
        assert client.get("/health").status_code == 200
        assert told(client, "count") == {}


def test_the_stages_are_those_that_operators_are_told_of() -> None:
    with asked(service()) as client:
        for path, body in (
            ("/v2/rerank", {**RANKED, "relevant_spans": {}}),
            ("/v1/ask", {"question": "saws?"}),
        ):
            assert client.post(path, json=body).status_code == 200
        assert set(told(client, "count")) == STAGES
        help_line = re.search("^# HELP demur_seconds (.*)$", client.get("/metrics").text, re.M)
        assert server_of(client).figures.registry.get_sample_value("demur_pairs_total") == len(TEXTS) + 50
    row = next(line for line in DOCS.read_text("utf-8").splitlines() if line.startswith("| `demur_seconds`"))
    for stage in STAGES:
        assert f"`{stage}`" in row and help_line is not None and stage in help_line[1]
