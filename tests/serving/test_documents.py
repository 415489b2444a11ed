"""Documents over HTTP: sent, found at once, removed, read again; and what is refused."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from demur.kb.folder import KnowledgeBase
from demur.kb.store.folder import UPLOADS
from demur.serving.guards.shield import Rules
from demur.serving.paths import documents
from demur.serving.server import Settings
from kb.base_toys import Hashing
from serving.based import answered, drop, made, over, put, serving, unembedded
from serving.made import asked, server_of, service, wait_until

__all__ = ["unembedded"]  # a fixture
KAYAK = "# Kayaks\n\nA kayak is lent for four days.\n"
ASKED = "For how many days is a kayak lent?"


@pytest.mark.usefixtures("unembedded")
def test_what_is_sent_is_found_at_once_and_is_there_after_a_restart(tmp_path: Path) -> None:
    path = made(tmp_path)
    with serving(path) as client:
        before = client.get("/v1/documents").json()
        assert answered(client, ASKED) != "A kayak is lent for four days."
        told = put(client, "kayaks.md", KAYAK)
        assert (told["status"], told["passages"]) == ("added", 1)
        assert told["generation"] == before["generation"] + 1
        assert answered(client, ASKED) == "A kayak is lent for four days."
        listed = client.get("/v1/documents").json()
        assert [each["name"] for each in listed["documents"]][-1] == "kayaks.md"
        assert listed["documents"][-1]["kind"] == "md" and listed["passages"] == before["passages"] + 1
        assert not list((path / UPLOADS).iterdir()), "what is in needs no copy"
    with serving(path) as client:
        assert answered(client, ASKED) == "A kayak is lent for four days."


@pytest.mark.usefixtures("unembedded")
def test_its_passages_are_named_by_the_document_and_not_by_where_it_lay(tmp_path: Path) -> None:
    with serving(made(tmp_path)) as client:
        put(client, "kayaks.md", KAYAK)
        best = client.post("/v1/ask", json={"question": ASKED}).json()["answer"]
        assert (best["source"], best["line"], best["heading"]) == ("kayaks.md", 3, "Kayaks")
        assert best["id"].startswith("kayaks.md:") and str(tmp_path) not in json.dumps(best)


@pytest.mark.usefixtures("unembedded")
def test_a_newer_version_takes_the_place_of_the_older(tmp_path: Path) -> None:
    with serving(made(tmp_path)) as client:
        first = put(client, "kayaks.md", KAYAK)
        again = put(client, "kayaks.md", KAYAK)
        assert again == {**first, "status": "unchanged"}
        assert put(client, "kayaks.md", KAYAK.replace("four", "five"))["status"] == "changed"
        assert answered(client, ASKED) == "A kayak is lent for five days."


@pytest.mark.usefixtures("unembedded")
def test_a_document_is_removed_by_its_whole_name(tmp_path: Path) -> None:
    with serving(made(tmp_path)) as client:
        put(client, "kayaks.md", KAYAK)
        for name in ("kayak", "", "../kayaks.md", str(tmp_path), str(tmp_path / "files")):
            assert client.delete("/v1/documents", params={"name": name}).status_code == 404
        assert drop(client, "kayaks.md")["status"] == "removed"
        assert answered(client, ASKED) != "A kayak is lent for four days."
        put(client, " u\u0308ber.md", KAYAK)
        assert drop(client, " u\u0308ber.md")["status"] == "removed", (
            "however it is typed, as when it is sent"
        )


@pytest.mark.usefixtures("unembedded")
def test_who_removes_a_document_does_not_wait_for_those_who_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_WAIT", 0.1)
    with serving(made(tmp_path)) as client:
        put(client, "kayaks.md", KAYAK)
        base = server_of(client).base()
        with base._writing:  # as if a long file were being read
            assert client.delete("/v1/documents", params={"name": "nope.md"}).status_code == 404
            told = client.delete("/v1/documents", params={"name": "kayaks.md"})
            assert told.status_code == 202 and told.headers["location"].endswith(told.json()["id"])
        assert over(client, told.json()["id"])["result"]["status"] == "removed"  # type: ignore[index]
        assert client.get("/v1/documents").json()["total"] == 1


@pytest.mark.usefixtures("unembedded")
def test_versions_that_are_sent_at_the_same_time_are_all_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_WAIT", 0.1)
    with serving(made(tmp_path)) as client:
        with server_of(client).base()._writing:
            sent = [client.post("/v1/documents", params={"name": "a.md"}, content=KAYAK) for _ in range(3)]
            assert [each.status_code for each in sent] == [202] * 3
        assert all(over(client, each.json()["id"])["state"] == "done" for each in sent)
        assert not list((tmp_path / "tools.kb" / UPLOADS).iterdir())


@pytest.mark.usefixtures("unembedded")
def test_files_on_the_disk_are_read_again_and_a_job_says_so(tmp_path: Path) -> None:
    with serving(made(tmp_path)) as client:
        (tmp_path / "files" / "kayaks.md").write_text(KAYAK, "utf-8")
        answer = client.post("/v1/documents/update")
        assert answer.status_code == 202 and answer.headers["location"].endswith(answer.json()["id"])
        told = over(client, answer.json()["id"])
        assert told["state"] == "done" and isinstance(told["result"], dict)
        assert (told["result"]["added"], told["result"]["unchanged"]) == (1, 1)
        assert answered(client, ASKED) == "A kayak is lent for four days."
        assert client.get("/v1/jobs/nobody").status_code == 404


@pytest.mark.usefixtures("unembedded")
def test_what_another_process_changes_is_seen(tmp_path: Path) -> None:
    path = made(tmp_path)
    with serving(path) as client:
        generation = client.get("/info").json()["generation"]
        (tmp_path / "kayaks.md").write_text(KAYAK, "utf-8")
        other = KnowledgeBase(path)
        other.add(tmp_path / "kayaks.md")
        other.close()
        assert answered(client, ASKED) == "A kayak is lent for four days."
        assert client.get("/info").json()["generation"] == generation + 1


@pytest.mark.usefixtures("unembedded")
@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd.md",
        "/etc/passwd.md",
        "a/b.md",
        "a\\b.md",
        ".hidden.md",
        "..",
        "",
        " ",
        "a\0.md",
        "a\n.md",
        "\u202egnp.md",
        f"{'a' * 300}.md",
        "run.exe",
        "no-suffix",
        "packed.md.gz",
    ],
)
def test_names_that_are_paths_or_tricks_are_refused(tmp_path: Path, name: str) -> None:
    path = made(tmp_path)
    there = sorted(each for each in tmp_path.rglob("*") if "words" not in each.parts)
    with serving(path) as client:
        answer = client.post("/v1/documents", params={"name": name}, content=KAYAK.encode())
        assert answer.status_code == 422 and isinstance(answer.json()["message"], str), answer.text
        assert len(answer.json()["message"].splitlines()) == 1
        assert client.get("/v1/documents").json()["total"] == 1
    after = sorted(each for each in tmp_path.rglob("*") if "words" not in each.parts)
    assert [each for each in after if each not in there and UPLOADS in each.parts] == []


@pytest.mark.usefixtures("unembedded")
def test_what_cannot_be_read_is_said_in_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    path = made(tmp_path)
    bomb = gzip.compress(b" " * 10_000_000)
    sent = {"empty.md": b" \n", "bomb.md": bomb, "binary.txt": b"\0\1\2", "latin.md": b"caf\xe9\n"}
    with serving(path) as client:
        for name, body in sent.items():
            answer = client.post("/v1/documents", params={"name": name}, content=body)
            assert answer.status_code == 422, name
            message = answer.json()["message"]
            assert name in message and len(message.splitlines()) == 1 and str(tmp_path) not in message
        packed = client.post(
            "/v1/documents",
            params={"name": "a.md"},
            content=bomb,
            headers={"Content-Encoding": "gzip"},
        )
        form = client.post("/v1/documents", params={"name": "a.md"}, files={"file": b"# A form"})
        assert (packed.status_code, form.status_code) == (415, 415) and "--data-binary" in form.text
        assert client.get("/v1/documents").json()["total"] == 1
    assert not list((path / UPLOADS).glob("*"))


@pytest.mark.usefixtures("unembedded")
def test_a_file_of_the_base_is_not_overwritten_by_an_upload_of_its_name(tmp_path: Path) -> None:
    path = made(tmp_path)
    with serving(path) as client:
        kb = KnowledgeBase(path)
        name = kb.sources()[0][0]
        kb.close()
        answer = client.post("/v1/documents", params={"name": name}, content=KAYAK.encode())
        assert answer.status_code == 422, "its name is a path"
        assert answered(client, "For how long are saws lent?") == "Saws are lent for three weeks."


@pytest.mark.usefixtures("unembedded")
def test_too_large_a_document_is_refused(tmp_path: Path) -> None:
    small = Settings(rules=replace(Rules(), body=1000))
    with serving(made(tmp_path), small) as client:
        answer = client.post("/v1/documents", params={"name": "a.md"}, content=b"word " * 300)
        assert (answer.status_code, answer.json()["error_type"]) == (413, "TooLarge")


@pytest.mark.usefixtures("unembedded")
def test_pages_of_other_sites_change_nothing(tmp_path: Path) -> None:
    with serving(made(tmp_path)) as client:
        for headers in (
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Host": "evil.example"},
        ):
            told = client.post(
                "/v1/documents",
                params={"name": "a.md"},
                content=KAYAK.encode(),
                headers={**headers, "Content-Type": "text/plain"},
            )
            assert told.status_code == 403, headers
            assert client.delete("/v1/documents", params={"name": "x"}, headers=headers).status_code == 403
        assert client.get("/v1/documents").json()["total"] == 1


@pytest.mark.usefixtures("unembedded")
def test_a_server_to_read_from_changes_nothing(tmp_path: Path) -> None:
    with serving(made(tmp_path), Settings(read_only=True)) as client:
        refused = [
            client.post("/v1/documents", params={"name": "a.md"}, content=KAYAK.encode()),
            client.delete("/v1/documents", params={"name": "a.md"}),
            client.post("/v1/documents/update"),
            client.post("/v1/labels", json={"question": "x?", "right": []}),
            client.post("/v1/questions", json={"questions": ["x?"]}),
            client.request("DELETE", "/v1/labels", params={"question": "x?"}),
            client.post("/v1/calibrate", json={}),
        ]
        assert [each.status_code for each in refused] == [403] * len(refused)
        assert client.get("/v1/documents").status_code == 200
        info = client.get("/info").json()
        assert info["read_only"] is True and info["ranker"].startswith("bm25")


def test_a_server_without_a_base_says_so() -> None:
    with asked(service()) as client:
        for path in ("/v1/documents", "/v1/labels", "/v1/labels/next", "/v1/labels/export"):
            answer = client.get(path)
            assert answer.status_code == 404 and "--kb" in answer.json()["message"]


@pytest.mark.usefixtures("unembedded")
def test_what_takes_long_is_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_WAIT", 0.0)
    with serving(made(tmp_path)) as client:
        answer = client.post("/v1/documents", params={"name": "kayaks.md"}, content=KAYAK.encode())
        assert answer.status_code == 202
        told = over(client, answer.json()["id"])
        assert told["state"] == "done" and answered(client, ASKED) == "A kayak is lent for four days."
        bad = client.post("/v1/documents", params={"name": "bad.txt"}, content=b"\0")
        told = over(client, bad.json()["id"])
        assert told["state"] == "failed" and "bad.txt" in str(told["error"])


def test_passages_are_found_by_meaning_as_they_get_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demur.asking.meaning.finding.maker", Hashing)
    with serving(made(tmp_path)) as client:
        wait_until(lambda: client.get("/v1/documents").json().get("embedded") == 1)
        put(client, "kayaks.md", KAYAK)
        wait_until(lambda: client.get("/v1/documents").json().get("embedded") == 2)
        server = server_of(client)
        assert server.figures.registry.get_sample_value("demur_generation") is not None


def test_an_index_of_a_base_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    from demur.cli.options.services import opening
    from demur.errors import DataError, UsageError

    with pytest.raises(DataError, match="there is no knowledge base"):
        opening(None, False, None, None, None, None, "english", tmp_path / "nowhere.kb")
    path = made(tmp_path)
    with pytest.raises(UsageError, match="--kb"):
        opening([path], False, None, None, None, None, "english", path)
    with pytest.raises(UsageError, match="has its own language"):
        opening(None, False, None, None, None, None, "german", path)
