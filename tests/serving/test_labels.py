"""Labels over HTTP become a promise: parted by a hash, counted, and made into a gate in force at once."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from demur.asking.gates.labels import FIT, fits, labelled
from demur.data import stream
from demur.kb.folder import KnowledgeBase
from demur.kb.store.folder import GATE
from demur.serving.answering.labelling import next_question, waiting
from demur.serving.answering.service import Service
from serving.based import TOOLS, drop, lines, made, over, put, serving, unembedded
from serving.made import asked, server_of

__all__ = ["unembedded"]  # a fixture
pytestmark = pytest.mark.usefixtures("unembedded")


def question(tool: str) -> str:
    return f"For how long is a {tool} lent?"


def bring(client: TestClient, many: int) -> None:
    told = client.post("/v1/questions", json={"questions": [question(tool) for tool in TOOLS[:many]]})
    assert told.status_code == 201


def label_next(client: TestClient) -> dict[str, Any]:
    """The question that was asked about, labelled right."""
    found: dict[str, Any] = client.get("/v1/labels/next").json()
    tool = found["question"].split()[5]
    right = [each["passage"] for each in found["passages"] if tool in each["text"].split()]
    assert len(right) == 1, found
    said = client.post("/v1/labels", json={"question": found["question"], "right": right})
    assert said.status_code == 201
    return found


def base(folder: Path, many: int = 120) -> Path:
    return made(folder, {"tools.md": lines(TOOLS[:many])})


def test_one_question_in_five_fits_whatever_its_case_and_signs() -> None:
    some = [question(tool) for tool in TOOLS]
    share = sum(map(fits, some)) / len(some)
    assert abs(share - 1 / FIT) < 0.12
    assert all(fits(each) is fits(each.upper().replace("?", " !")) for each in some)


def test_both_parts_take_turns_and_no_question_is_in_both(tmp_path: Path) -> None:
    path = base(tmp_path)
    with serving(path) as client:
        bring(client, 60)
        found = [label_next(client) for _ in range(40)]
        parts = [each["part"] for each in found]
        assert 5 <= parts.count("fit") <= 11, "one in five, as far as there are so many"
        assert all((each["part"] == "fit") is fits(each["question"]) for each in found)
        told = client.get("/v1/labels").json()
        assert (told["labelled"], told["fit"], told["certify"]) == (
            40,
            parts.count("fit"),
            parts.count("certify"),
        )
        kept = {
            part: {
                json.loads(line)["question"]
                for line in client.get(f"/v1/labels/export?part={part}").text.splitlines()
            }
            for part in ("fit", "certify", "all")
        }
        assert kept["fit"].isdisjoint(kept["certify"]) and kept["all"] == kept["fit"] | kept["certify"]
        default = client.get("/v1/labels/export").text.splitlines()
        assert {json.loads(line)["question"] for line in default} == kept["fit"]


def test_all_say_the_same_number_of_labels_that_are_missing(tmp_path: Path) -> None:
    with serving(base(tmp_path)) as client:
        bring(client, 60)
        for _ in range(40):
            label_next(client)
        levels = client.get("/v1/labels").json()["levels"]
        missing = [each["more"] for each in levels if not each["promised"]]
        assert missing and missing == sorted(missing), "a stricter promise takes no fewer"
        answer = client.post("/v1/calibrate", json={"risk": 0.1})
        assert (
            answer.status_code == 422 and f"label about {levels[1]['more']} more" in answer.json()["message"]
        )
        (job,) = server_of(client).jobs._jobs.values()
        assert (job.state, job.done, job.total) == ("failed", 40, 40), "also what was asked before is done"


def test_those_that_certify_come_in_an_order_that_nothing_but_their_words_decides(tmp_path: Path) -> None:
    path = base(tmp_path)
    kb = KnowledgeBase(path)
    kb.keep_questions(question(tool) for tool in TOOLS[:30])
    first = next_question(kb)
    again = KnowledgeBase(base(tmp_path / "again"))
    again.keep_questions(question(tool) for tool in reversed(TOOLS[:30]))
    assert first == next_question(again) and first is not None and not fits(first)
    assert next_question(kb, [first]) not in (first, None)


def test_labels_become_a_promise_that_is_in_force_at_once(tmp_path: Path) -> None:
    path = base(tmp_path)
    with serving(path) as client:
        bring(client, 60)
        assert client.get("/info").json()["promise"] is None
        early = client.post("/v1/calibrate", json={"risk": 0.2})
        assert early.status_code == 422 and "takes 20, even if none is wrong" in early.json()["message"]
        empty = client.get("/v1/labels").json()["levels"]
        assert [each["risk"] for each in empty] == [0.2, 0.1, 0.05]
        assert f"label about {empty[0]['more']} more" in early.json()["message"]
        assert empty[0]["more"] < empty[1]["more"] < empty[2]["more"]
        for _ in range(45):
            label_next(client)
        level = client.get("/v1/labels").json()["levels"][0]
        assert level["promised"] and level["more"] is None and 0.5 < level["coverage"] <= 1
        generation = client.get("/info").json()["generation"]
        told = client.post("/v1/calibrate", json={"risk": 0.2})
        result = told.json() if told.status_code == 200 else over(client, told.json()["id"])["result"]
        assert isinstance(result, dict) and f"certified on generation {generation}" in result["promise"]
        info = client.get("/info").json()
        assert (info["calibrated_on"], info["changed_since"], info["lapsed"]) == (generation, 0, False)
        assert info["promise"] == result["promise"] and "20 %" in info["promise"]
        said = client.post("/v1/ask", json={"question": question(TOOLS[70])}).json()
        certificate = said["certificate"]
        assert (certificate["risk"], certificate["generation"], certificate["lapsed"]) == (
            0.2,
            generation,
            False,
        )
    with serving(path) as client:
        assert client.get("/info").json()["promise"] == result["promise"], "it is there after a restart"


def test_with_a_gate_of_its_own_no_other_risk_is_promised(tmp_path: Path) -> None:
    """Also where gates that come with demur promised other risks until then."""
    service = Service.over(base(tmp_path), None, "bm25")
    assert service.session is not None
    service.sessions[0.05] = service.session
    with asked(lambda: service) as client:
        body = {"question": question(TOOLS[70]), "risk": 0.05}
        assert client.post("/v1/ask", json=body).status_code == 200
        gated(client)
        refused = client.post("/v1/ask", json=body)
        assert refused.status_code == 404 and "the one in force promises 0.2" in refused.json()["message"]


def gated(client: TestClient) -> None:
    """The base with a gate."""
    bring(client, 60)
    for _ in range(45):
        label_next(client)
    told = client.post("/v1/calibrate", json={"risk": 0.2})
    if told.status_code == 202:
        assert over(client, told.json()["id"])["state"] == "done"
    else:
        assert told.status_code == 200, told.text


def test_a_promise_tells_what_has_changed_since_and_lapses(tmp_path: Path) -> None:
    with serving(base(tmp_path), lapse=0.2) as client:
        gated(client)
        put(client, "more.md", "A kayak is lent for four days.\n")
        info = client.get("/info").json()
        assert 0 < info["changed_since"] < 0.02 and not info["lapsed"]
        assert "of passages have changed since" in info["promise"]
        many = "".join(f"Number {n} of {word} is new.\n\n" for n, word in enumerate(["boats"] * 60))
        put(client, "much.md", many)
        info = client.get("/info").json()
        assert info["lapsed"] and info["promise"].startswith("The promise has lapsed")
        said = client.post("/v1/ask", json={"question": question(TOOLS[70])}).json()
        assert said["certificate"]["lapsed"] is True and said["certificate"]["changed_since"] > 0.2
        server = server_of(client)
        assert server.figures.registry.get_sample_value("demur_gate_lapsed") == 1


def test_a_gate_for_another_ranker_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = base(tmp_path)
    with serving(path) as client:
        gated(client)
    file = path / GATE
    told = file.read_text("utf-8")
    searched = told.partition("searched by ")[2][:16]
    file.write_text(told.replace(searched, "0" * 16), "utf-8")
    with serving(path) as client:
        assert client.get("/info").json()["promise"] is None
        file.write_text(told, "utf-8")
        assert client.get("/info").json()["promise"], "a gate is taken up without a restart"
        file.unlink()
        assert client.get("/info").json()["promise"] is None, "and given up"


def test_a_label_is_taken_back_and_taken_anew(tmp_path: Path) -> None:
    with serving(base(tmp_path)) as client:
        bring(client, 10)
        first = label_next(client)
        assert client.get("/v1/labels").json()["labelled"] == 1
        answer = client.request("DELETE", "/v1/labels", params={"question": first["question"]})
        assert answer.status_code == 200
        assert client.request("DELETE", "/v1/labels", params={"question": "who?"}).status_code == 404
        told = client.get("/v1/labels").json()
        assert (told["labelled"], told["waiting"]) == (0, 10)
        again = client.get("/v1/labels/next", params={"question": first["question"]}).json()
        assert again["question"] == first["question"]
        for right in ([first["passages"][0]["passage"]], []):
            client.post("/v1/labels", json={"question": first["question"], "right": right})
        told = client.get("/v1/labels").json()
        assert (told["labelled"], told["answerable"]) == (1, 0), "the last word counts"


def test_rows_and_other_passages_are_shown_in_turns(tmp_path: Path) -> None:
    asked = f"Is a {' or a '.join(TOOLS[:12])} lent for days?"
    texts = {
        "tools.md": lines(TOOLS[:12]),
        "faq.csv": "question,answer\nWhere is the desk?,A desk is lent to none.\n",
    }
    with serving(made(tmp_path, texts)) as client:
        ranked = client.post("/v1/ask", json={"question": asked, "top": 50}).json()["ranking"]
        assert not any(each["heading"] for each in ranked[:9]), "the row stands behind"
        shown = client.get("/v1/labels/next", params={"question": asked}).json()["passages"]
        assert [bool(each["heading"]) for each in shown] == [False, True, *[False] * 7]


def test_passages_may_be_named_by_the_ids_of_answers(tmp_path: Path) -> None:
    with serving(base(tmp_path)) as client:
        best = client.post("/v1/ask", json={"question": question(TOOLS[3])}).json()["ranking"][0]
        body = {"question": question(TOOLS[3]), "right": [best["id"]]}
        assert client.post("/v1/labels", json=body).status_code == 201
        for wrong in ("nowhere.md:1", 999_999, -1, 2**70):
            answer = client.post("/v1/labels", json={**body, "right": [wrong]})
            assert answer.status_code == 422 and "there is no passage" in answer.json()["message"], wrong


def test_a_label_whose_passage_is_gone_is_stale_and_waits_again(tmp_path: Path) -> None:
    path = base(tmp_path)
    with serving(path) as client:
        put(client, "kayaks.md", "A kayak is lent for four days.\n")
        asked = "For how long is a kayak lent?"
        right = client.get("/v1/labels/next", params={"question": asked}).json()["passages"][0]["passage"]
        client.post("/v1/labels", json={"question": asked, "right": [right]})
        drop(client, "kayaks.md")
        told = client.get("/v1/labels").json()
        assert (told["labelled"], told["stale"], told["waiting"]) == (0, 1, 1)
        assert client.get("/v1/labels/next").json()["question"] == asked


def test_labels_can_be_trained_on(tmp_path: Path) -> None:
    with serving(base(tmp_path)) as client:
        bring(client, 20)
        for _ in range(12):
            label_next(client)
        file = tmp_path / "labels.jsonl"
        file.write_text(client.get("/v1/labels/export?part=all").text, "utf-8")
    pools = list(stream(str(file)))
    assert len(pools) == 12
    assert all(pool.positives == 1 and len(pool) > 1 and None not in pool.labels for pool in pools)


def test_what_is_labelled_is_what_was_shown_where_files_have_the_same_ids(tmp_path: Path) -> None:
    head = "id,question,answer\n1,"
    house, shop = "Is it open on Sundays?,No.", "Do you ship on Sundays?,No."
    texts = {"house.csv": f"{head}{house}\n", "shop.csv": f"{head}{shop}\n"}
    path = made(tmp_path, texts)
    with serving(path) as client:
        told = client.get("/v1/labels/next", params={"question": "Do you ship on Sundays?"}).json()
        shown = {each["passage"]: each["heading"] for each in told["passages"]}
        assert len(shown) == 2
        client.post("/v1/labels", json={"question": "Sundays?", "right": [next(iter(shown))], "wrong": []})
    with closing(KnowledgeBase(path)) as kb:
        assert {place: kb.passage(place).heading for place in shown} == shown
        (label,) = kb.labels()
        assert label.heading == next(iter(shown.values())) == "Do you ship on Sundays?"


def test_labels_are_grouped_by_their_question(tmp_path: Path) -> None:
    kb = KnowledgeBase(base(tmp_path))
    places = kb.by_words(question(TOOLS[0]), 3)[0].tolist()
    kb.settle(question(TOOLS[0]), places[:2], places[2:])
    kb.settle("WHO?", [], places)
    found = labelled(kb.labels())
    assert [len(found[question(TOOLS[0])].right), len(found[question(TOOLS[0])].wrong)] == [2, 1]
    assert not found["WHO?"].right and not found["WHO?"].stale
    kb.keep_questions(["who", question(TOOLS[0]).lower(), "when?", " "])
    assert waiting(kb) == ["when?"]
