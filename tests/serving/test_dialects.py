"""Each dialect gets what its clients read: TEI, Cohere, Jina and vLLM, Hugging Face, and our own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

import demur
from asking.toys import Toy
from demur.asking import as_plain, packaged
from demur.asking.meaning.ranker import ByMeaning
from demur.asking.packaged import MEANING
from demur.errors import UsageError
from demur.serving.answering.given import Given
from demur.serving.answering.service import Service
from serving.made import QUESTION, TEXTS, asked, service


def post(path: str, body: Any, made: Service | None = None) -> Any:
    with asked(made) as client:
        answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_tei_gets_every_text_in_order_of_its_score() -> None:
    said = post("/rerank", {"query": QUESTION, "texts": TEXTS, "raw_scores": True, "truncate": True})
    assert [each["index"] for each in said] == [1, 0, 2]
    assert [each["score"] for each in said] == sorted(Toy().score(QUESTION, TEXTS), reverse=True)
    shares = post("/rerank", {"query": QUESTION, "texts": TEXTS, "return_text": True, "top_n": 2})
    assert [each["text"] for each in shares] == [TEXTS[1], TEXTS[0]]
    assert 1 > shares[0]["score"] > shares[1]["score"] > 0 and shares[0]["score"] != said[0]["score"]


@pytest.mark.parametrize("path", ["/rerank", "/v1/rerank", "/v2/rerank"])
def test_cohere_gets_results_with_places_and_scores(path: str) -> None:
    body = {"model": "any-name", "query": QUESTION, "documents": TEXTS, "top_n": 2, "max_tokens_per_doc": 9}
    said = post(path, {**body, "return_documents": None, "unheard_of": {"of": 1}})
    assert [each["index"] for each in said["results"]] == [1, 0]
    assert said["model"] == "any-name" and said["id"] and said["usage"]["total_tokens"] > 0
    shown = [each.get("document") for each in said["results"]]
    assert shown == ([None, None] if path == "/v2/rerank" else [{"text": TEXTS[1]}, {"text": TEXTS[0]}])


def test_documents_may_be_objects_and_may_be_left_out_of_the_answer() -> None:
    documents = [{"text": text, "title": "more"} for text in TEXTS]
    body = {"query": QUESTION, "documents": documents, "return_documents": False, "top_n": 3.0}
    said = post("/v1/rerank", body)
    assert [each["index"] for each in said["results"]] == [1, 0, 2]
    assert not any("document" in each for each in said["results"])


def test_texts_and_documents_at_once_are_refused() -> None:
    with asked(None) as client:
        answer = client.post("/rerank", json={"query": QUESTION, "texts": TEXTS, "documents": TEXTS})
    assert answer.status_code == 422 and "send one of them" in answer.json()["message"]


def test_no_documents_give_no_results() -> None:
    assert post("/v1/rerank", {"query": QUESTION, "documents": []})["results"] == []
    assert post("/rerank", {"query": QUESTION, "texts": []}) == []


def test_relevant_spans_are_our_quotes_in_code_points() -> None:
    documents = ["No 🪚 here.", "🪚🪚 Saws are lent for three weeks, ladders for two days."]
    body = {"query": QUESTION, "documents": documents, "relevant_spans": {"mode": "enabled", "max_spans": 1}}
    first, second = post("/v2/rerank", body)["results"]
    (span,) = first["relevant_spans"]
    assert documents[1][span["start"] : span["end"]] == "three weeks" and 0 < span["score"] <= 1
    assert second["relevant_spans"] == []
    body["relevant_spans"] = {"threshold": 0.99}
    assert post("/v2/rerank", body)["results"][0]["relevant_spans"] == []
    for none in ("NaN", "Infinity"):
        text = json.dumps({**body, "relevant_spans": {"threshold": 7}}).replace("7}", f"{none}}}")
        with asked(service()) as client:
            assert client.post("/v2/rerank", content=text).status_code == 422
    body["relevant_spans"] = {"mode": "disabled"}
    assert "relevant_spans" not in post("/v2/rerank", body)["results"][0]


def test_a_gate_drops_nothing_and_adds_a_key() -> None:
    made, alike = service(gated=True), ["Saws.", "Saws.", "Saws."]
    for documents, abstained in ((TEXTS, False), (alike, True)):
        said = post("/v2/rerank", {"query": QUESTION, "documents": documents}, made)
        assert len(said["results"]) == 3 and said["demur"]["abstained"] is abstained
        assert said["demur"]["certificate"]["risk"] == 0.2
    said = post("/rerank", {"query": QUESTION, "texts": alike}, made)
    assert len(said) == 3 and said[0]["demur"]["abstained"] and "below" in said[0]["demur"]["reason"]
    assert "demur" not in post("/v1/rerank", {"query": QUESTION, "documents": TEXTS})


def test_hugging_face_gets_a_quote_or_an_empty_answer() -> None:
    inputs = {"question": QUESTION, "context": TEXTS[1]}
    said = post("/", {"inputs": inputs, "parameters": {"top_k": None, "doc_stride": 5}})
    assert (said["answer"], said["start"], said["end"]) == ("three weeks", 18, 29)
    assert TEXTS[1][said["start"] : said["end"]] == said["answer"] and not said["demur"]["abstained"]
    body = {"inputs": {**inputs, "context": TEXTS[0]}, "parameters": {"handle_impossible_answer": True}}
    said = post("/", body)
    assert (said["answer"], said["start"], said["end"]) == ("", 0, 0) and said["demur"]["abstained"]
    assert isinstance(post("/", {"inputs": inputs, "parameters": {"top_k": 3}}), list)
    for words, answer in ((2, "three weeks"), (1, "")):
        assert post("/", {"inputs": inputs, "parameters": {"max_answer_len": words}})["answer"] == answer


def test_without_a_reader_the_sentence_is_quoted() -> None:
    made = Service(Given(Toy(), None))
    context = "Ladders are long. Saws are lent for weeks."
    assert post("/", {"inputs": {"question": QUESTION, "context": context}}, made)["answer"] == context[18:]


def test_asking_gives_what_the_session_gives() -> None:
    made = service()
    assert made.session is not None
    for question, abstained in ((QUESTION, False), ("violins?", True)):
        said = post("/v1/ask", {"question": question, "top": 2, "kb": "tools"}, made)
        assert said == as_plain(made.session.ask(question, 2)) and said["abstained"] is abstained


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/v1/ask", {"question": " "}, "question"),
        ("/v1/ask", {"question": "x", "top": 0}, "top"),
        ("/rerank", {"query": "x"}, "send texts, or documents"),
        ("/rerank", {"texts": ["x"]}, "query: Field required"),
        ("/v2/rerank", {"query": "x", "documents": [1]}, "documents"),
        ("/v2/rerank", {"query": "x", "documents": [], "top_n": "3"}, "top_n"),
        (
            "/v2/rerank",
            {"query": "x", "documents": [], "relevant_spans": {"mode": "x"}},
            "relevant_spans.mode",
        ),
        ("/", {"inputs": "x"}, "inputs"),
    ],
)
def test_a_bad_body_is_told_as_a_string_under_each_key(path: str, body: Any, said: str) -> None:
    with asked() as client:
        answer = client.post(path, json=body)
    assert answer.status_code == 422
    told = answer.json()
    assert said in told["message"] and told["message"] == told["detail"] == told["error"]
    assert told["error_type"] == "Validation"


def test_what_is_not_here_is_said_as_such() -> None:
    with asked() as client:
        for more, said in (
            ({"kb": "others"}, "called 'tools'"),
            ({"risk": 0.1}, "no gate here promises a risk of 0.1"),
        ):
            answer = client.post("/v1/ask", json={"question": "x", **more})
            assert answer.status_code == 404 and said in answer.json()["message"]


def test_what_is_no_json_and_what_is_not_there_are_told_in_the_same_shape() -> None:
    with asked() as client:
        binary = client.post("/rerank", content=b"\xff\xfe", headers={"content-type": "application/json"})
        broken = client.post("/rerank", content=b"{", headers={"content-type": "application/json"})
        nowhere, method = client.get("/nowhere"), client.get("/rerank")
    found = [(each.status_code, each.json()["error_type"]) for each in (broken, binary, nowhere, method)]
    assert found == [(422, "Validation")] * 2 + [(404, "NotFound"), (405, "NotAllowed")]


def test_without_documents_asking_says_how_to_have_some() -> None:
    with asked(service(documents=False)) as client:
        answer = client.post("/v1/ask", json={"question": "x"})
    assert answer.status_code == 404 and "--from FILE" in answer.json()["message"]


@pytest.mark.skipif(not packaged.there(), reason="the packaged model is not here")
@pytest.mark.skipif(not packaged.there(), reason="the packaged model is not here")
def test_documents_found_by_meaning_are_asked_and_given_texts_are_ranked() -> None:
    made = Service.open(lambda: TEXTS, "tools", MEANING)
    assert made.session is not None and isinstance(made.session.search, ByMeaning)
    assert made.given.ranker.fingerprint == demur.ranker("mini").fingerprint
    with asked(made) as client:
        found = client.post("/v1/ask", json={"question": QUESTION})
        assert found.status_code == 200, found.text
        ranked = client.post("/rerank", json={"query": QUESTION, "texts": TEXTS})
        assert ranked.status_code == 200 and len(ranked.json()) == len(TEXTS)
    with pytest.raises(UsageError, match="there are no documents to find them in; name files with --from"):
        Service.open(ranker=MEANING)
    with pytest.raises(UsageError, match="did you mean 'meaning'"):
        Service.open(lambda: TEXTS, "tools", "meanin")


def test_scores_are_those_of_demur_rank() -> None:
    texts = ["Members may keep a drill for two weeks.", "Nobody may eat at the benches.", "It rained."]
    question = "How long may members keep a drill?"
    command = [sys.executable, "-m", "demur", "rank", question, "--candidates", "-", "--ranker", "mini"]
    done = subprocess.run(
        [*command, "--json"], input="\n".join(texts), capture_output=True, text=True, check=True
    )
    ranked = json.loads(done.stdout)
    body = {"query": question, "texts": texts, "raw_scores": True, "return_text": True}
    said = post("/rerank", body, Service.open())
    assert [each["text"] for each in said] == [each["text"] for each in ranked["ranking"]]
    scores = [each["score"] for each in ranked["ranking"]]
    assert [each["score"] for each in said] == pytest.approx(scores, abs=1e-4)
    assert said[0]["demur"]["confidence"] == pytest.approx(ranked["confidence"], abs=1e-4)


def test_a_path_tells_all_its_methods() -> None:
    with asked() as client:
        answer = client.patch("/v1/labels")
    assert (answer.status_code, answer.json()["error_type"]) == (405, "NotAllowed")
    assert answer.headers["allow"] == "DELETE, GET, HEAD, POST"


def test_the_page_of_the_interface_says_what_holds() -> None:
    with asked() as client:
        told = client.get("/openapi.json").json()
    top = told["components"]["schemas"]["AskBody"]["properties"]["top"]["anyOf"][0]
    assert (top["minimum"], top["maximum"]) == (1, 50)
    exported = told["paths"]["/v1/labels/export"]["get"]["responses"]
    assert list(exported["200"]["content"]) == ["application/jsonl"]
    assert list(exported["422"]["content"]) == ["application/json"]
