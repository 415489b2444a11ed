"""What a server says of entries of an FAQ, which a gate of their own judges."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from mcp import Client

from demur.asking import Passage
from demur.asking.gates.gate import open_gate
from demur.asking.packaged import MEANING_GATES, ROW_GATES
from demur.kb.folder import KnowledgeBase
from demur.serving.answering.service import Service
from demur.serving.assistants import create_mcp
from demur.serving.server import Settings
from serving.based import TOOLS, made, unembedded
from serving.made import TEXTS, asked, server_of
from serving.test_labels import gated

__all__ = ["unembedded"]  # a fixture
ROW = Passage("1", "At the desk, by card or in cash.", heading="How can I pay?", question="How can I pay?")
ASKED = "For how long are saws lent?"
OF_ROW, OF_TEXT = "In which ways may one pay?", "How long are saws lent?"


def service() -> Service:
    return Service.open(lambda: [ROW, *[Passage(str(n), text) for n, text in enumerate(TEXTS, 2)]], "tools")


def test_an_answer_comes_with_the_threshold_of_the_gate_that_judged_it() -> None:
    of_rows, of_texts = open_gate(ROW_GATES), open_gate(MEANING_GATES)
    with asked(service()) as client:
        info = client.get("/info").json()
        row, text = (client.post("/v1/ask", json={"question": each}).json() for each in (OF_ROW, OF_TEXT))
    assert (info["faq_promise"], info["faq_threshold"]) == (of_rows.promise, of_rows.threshold)
    assert (info["promise"], info["threshold"]) == (of_texts.promise, of_texts.threshold)
    assert [each["threshold"] for each in (row, text)] == [of_rows.threshold, of_texts.threshold]
    assert row["answer"]["threshold"] == of_rows.threshold


def test_another_risk_is_judged_by_the_gate_for_that_risk() -> None:
    with asked(service()) as client:
        for risk in client.get("/info").json()["risks"]:
            said = client.post("/v1/ask", json={"question": OF_ROW, "risk": risk}).json()
            assert said["certificate"]["risk"] == risk


def test_assistants_are_told_the_promise_of_the_gate_that_judged() -> None:
    async def called() -> list[str]:
        async with Client(create_mcp(service(), Settings())) as client:
            said = [await client.call_tool("ask", {"question": each}) for each in (OF_ROW, OF_TEXT)]
        return [each.structured_content["promise"] for each in said if each.structured_content]

    assert asyncio.run(called()) == [open_gate(ROW_GATES).promise, open_gate(MEANING_GATES).promise]


def test_drift_holds_each_gates_confidences_against_its_own() -> None:
    of_rows = open_gate(ROW_GATES)
    with asked(service()) as client:
        figures = server_of(client).figures

        def drift() -> float:
            page = client.get("/metrics").text.splitlines()
            return next(float(line.split()[1]) for line in page if line.startswith("demur_drift "))

        for confidence in of_rows.confidences[::2]:
            figures.judged("ask", False, confidence, of_rows.plain_threshold)
        assert drift() < 0.1
        for confidence in [1.0] * 500:
            figures.judged("ask", False, confidence, of_rows.plain_threshold)
        assert drift() > 0.5


def test_the_gate_of_a_base_judges_its_rows_too(tmp_path: Path) -> None:
    lent = [f"How long is a {tool} lent?,A {tool} is lent for {n + 2} days." for n, tool in enumerate(TOOLS)]
    path = made(tmp_path, {"faq.csv": "\n".join(["question,answer", *lent])})
    with asked(lambda: Service.over(path)) as client:
        assert client.get("/info").json()["faq_promise"] == open_gate(ROW_GATES).promise
        gated(client)
        info = client.get("/info").json()
        assert info["faq_promise"] is info["faq_threshold"] is None
        assert info["promise"].endswith(f"certified on generation {info['calibrated_on']}.")
        said = client.post("/v1/ask", json={"question": f"For how long may I have a {TOOLS[70]}?"}).json()
    assert (
        said["certificate"]["generation"] == info["calibrated_on"] and said["threshold"] == info["threshold"]
    )


@pytest.mark.usefixtures("unembedded")
def test_the_facts_promise_nothing_either_while_vectors_are_missing(tmp_path: Path) -> None:
    path = made(tmp_path)
    promises = ("promise", "threshold", "faq_promise", "faq_threshold")
    with asked(lambda: Service.over(path, tended=True)) as client:
        info = client.get("/info").json()
        assert info["promise_waits"] and not any(info[each] for each in promises)
        assert client.post("/v1/ask", json={"question": ASKED}).json()["certificate"] is None
        KnowledgeBase(path).embed()
        info = client.get("/info").json()
        assert not info["promise_waits"] and all(info[each] for each in promises)
        assert client.post("/v1/ask", json={"question": ASKED}).json()["certificate"] is not None
