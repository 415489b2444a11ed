"""Files and names of somebody who means harm: they are texts, and nothing else."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from demur.kb.files.documents import read_documents
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from kb.places import Place, place
from kb_files import docx, paragraph

__all__ = ["place"]  # a fixture
SQL = "'); DROP TABLE passages; -- \" ? %s $1 :name"
_A = "http://schemas.openxmlformats.org/drawingml/2006"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PICTURE = (
    f'<w:p><w:r><w:drawing><wp:inline xmlns:wp="{_A}/wordprocessingDrawing"><a:graphic xmlns:a="{_A}/main">'
    f'<a:graphicData><pic:pic xmlns:pic="{_A}/picture"><pic:blipFill>'
    f'<a:blip xmlns:r="{_OFFICE}" r:link="r9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic>'
    "</wp:inline></w:drawing></w:r></w:p>"
)
RELATION = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="r9" Type="{_OFFICE}/image" Target="{{}}" TargetMode="External"/></Relationships>'
)


def test_words_of_sql_are_words(place: Place) -> None:
    kb = KnowledgeBase(place("x.kb"))
    kb.put(SQL, [Passage(f"{SQL}:1", f"Text {SQL}", SQL, 1, heading=SQL, question=SQL)])
    (found,) = kb.by_words(f"drop table passages {SQL}", 9)[0].tolist()
    assert kb.passage(found).heading == SQL and kb.places(f"{SQL}:1") == [found]
    kb.label(SQL, found, 1)
    kb.keep_questions([SQL, "' OR 1=1 --"])
    assert [each.question for each in kb.labels()] == [SQL]
    assert {" ".join(SQL.split()), "' OR 1=1 --"} >= set(kb.questions())
    assert not kb.forget("' OR 1=1 --") and len(kb.labels()) == 1
    again = KnowledgeBase(kb.path)
    assert [each[0] for each in again.sources()] == [SQL] and len(again) == 1
    assert [each.status for each in again.remove(SQL)] == ["removed"] and len(again) == 0


@pytest.mark.parametrize("where", ["absolute", "above"])
def test_a_base_deletes_no_file_that_is_not_its_own(where: str, tmp_path: Path) -> None:
    """Tantivy deletes what its list of files names and it does not need, wherever that is."""
    mine = tmp_path / "mine.txt"
    mine.write_text("mine", "utf-8")
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.put("a.txt", [Passage("a:1", "The ship sails.", "a.txt", 1)])
    kb.close()
    (listed,) = (tmp_path / "x.kb").rglob(".managed.json")
    name = str(mine) if where == "absolute" else os.path.relpath(mine, listed.parent)
    listed.write_text(json.dumps([*json.loads(listed.read_text("utf-8")), name]), "utf-8")
    with closing(KnowledgeBase(tmp_path / "x.kb")) as again:
        again.put("b.txt", [Passage("b:1", "The train waits.", "b.txt", 1)])
        assert len(again.by_words("ship train", 9)[0]) == 2
    assert mine.read_text("utf-8") == "mine"


@pytest.fixture
def caller() -> Iterator[tuple[str, list[bytes]]]:
    """The address of a server, and what it was asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        over = threading.Event()

        def listen() -> None:
            while not over.is_set():
                try:
                    one, _ = server.accept()
                except TimeoutError:
                    continue
                with one:
                    asked.append(one.recv(100))

        thread = threading.Thread(target=listen)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", asked
        over.set()
        thread.join()


def test_a_web_page_fetches_nothing(tmp_path: Path, caller: tuple[str, list[bytes]]) -> None:
    pytest.importorskip("selectolax")
    address, asked = caller
    page = tmp_path / "a.html"
    page.write_text(
        f'<base href="{address}/"><link rel=stylesheet href="{address}/a.css"><script src="{address}/a.js">'
        f'</script><meta http-equiv=refresh content="0;url={address}/b"><img src="{address}/a.png">'
        f'<iframe src="{address}/c"></iframe><object data="{address}/d"></object><p>The ship sails.</p>',
        "utf-8",
    )
    assert [each.text for each in read_documents([page])] == ["The ship sails."]
    assert asked == []


def test_a_docx_fetches_nothing_and_opens_no_other_file(
    tmp_path: Path, caller: tuple[str, list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe stands for the other file: whoever opened it would wait until the limit on time ends it."""
    pytest.importorskip("mammoth")
    monkeypatch.setenv("DEMUR_READ_SECONDS", "20")
    address, asked = caller
    pipe = tmp_path / "secret"
    if hasattr(os, "mkfifo"):
        os.mkfifo(pipe)
    for number, target in enumerate((f"{address}/a.png", pipe.as_uri(), str(pipe))):
        relations = {"word/_rels/document.xml.rels": RELATION.format(target).encode()}
        file = tmp_path / f"{number}.docx"
        file.write_bytes(docx(PICTURE + paragraph("The ship sails."), relations))
        assert [each.text for each in read_documents([file])] == ["The ship sails."], target
    assert asked == []


def test_an_entity_names_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mammoth")
    monkeypatch.setenv("DEMUR_READ_SECONDS", "20")
    secret, file = tmp_path / "secret.txt", tmp_path / "a.docx"
    secret.write_text("The password is xyzzy.", "utf-8")
    declared = f'<!DOCTYPE d [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'
    text = (
        f'{declared}<w:document xmlns:w="{WORD}"><w:body>{paragraph("It sails. &e;")}</w:body></w:document>'
    )
    file.write_bytes(docx("", {"word/document.xml": text.encode()}))
    assert [each.text for each in read_documents(file)] == ["It sails."]
