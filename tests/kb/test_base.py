"""A knowledge base finds what the same passages in memory give, wherever it is, whatever changes made it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import demur
from demur.asking import Library, as_plain
from demur.errors import DataError, UsageError
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from demur.kb.sources.reports import FileReport
from kb.base_toys import Hashing, found, held, write
from kb.places import Place, place

__all__ = ["place"]  # a fixture

HANDBOOK = {
    "a.md": "# Loans\n\nA drill may be kept for one week.\n\nLadders are lent for three days.\n",
    "b.txt": "The bread is baked daily.\n\nCafés open at nine; the café of 東京 opens at ten.\n",
    "f.csv": "question,text\nHow long may I keep a drill?,One week.\nWhen are you open?,On Mondays.\n",
}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    write(tmp_path / "docs", HANDBOOK)
    return tmp_path / "docs"


@pytest.fixture
def kb(place: Place, docs: Path) -> KnowledgeBase:
    made = KnowledgeBase(place("x.kb"))
    made.add(docs)
    made.embed(Hashing())
    return made


def statuses(reports: list[FileReport]) -> dict[str, str]:
    return {Path(report.source).name: report.status for report in reports}


@pytest.mark.parametrize("first", ["demur.kb", "demur.kb.files.documents"])
def test_the_package_is_called_whatever_is_imported_first(first: str, tmp_path: Path) -> None:
    after = {"demur.kb": "demur.kb.files.documents", "demur.kb.files.documents": "demur.kb"}[first]
    code = f"import demur, {first}\ndemur.kb({str(tmp_path / 'x.kb')!r})\nimport {after}\n"
    code += "import demur.kb.files.documents\ndemur.kb.files.documents.read_documents\n"
    code += "print(demur.kb('y.kb').path)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "y.kb\n"
    code = f"import demur\nprint(demur.kb({str(tmp_path / 'x.kb')!r}).path.name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "x.kb\n"


@pytest.mark.parametrize("stem", ["english", "none"])
def test_scores_are_those_of_a_library_in_memory(place: Place, docs: Path, stem: str) -> None:
    kb, library = KnowledgeBase(place("y.kb"), stem), Library(docs, stem)
    kb.add(docs)
    for question in (
        "keep a drill for how long, drill?",
        "cafe café 東",
        "baking ladders",
        "the",
        "?",
        "nothing",
    ):
        places, scores = library.index.search(question, 10)
        ours, same = kb.by_words(question, 10)
        assert [kb.passage(place) for place in ours] == [library.passages[place] for place in places]
        assert same == pytest.approx(scores)
    for word in ("drill", "drills", "the", "absent"):
        assert kb.idf(word) == pytest.approx(library.index.idf(word))


def test_a_passage_alone_has_the_score_that_it_has_in_memory(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a.txt": "A drill may be kept."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(tmp_path / "docs")
    scores = Library(tmp_path / "docs").index.search("drill", 5)[1]
    assert kb.by_words("drill", 5)[1] == pytest.approx(scores) and len(scores) == 1


def test_only_what_has_changed_is_read_again(kb: KnowledgeBase, docs: Path) -> None:
    before = kb.generation
    assert set(statuses(kb.add(docs)).values()) == {"unchanged"}
    (docs / "b.txt").touch()
    assert set(statuses(kb.update()).values()) == {"unchanged"}
    assert kb.generation == before
    write(docs, {"a.md": HANDBOOK["a.md"].replace("one week", "two weeks"), "c.txt": "A new page."})
    (docs / "b.txt").unlink()
    told = statuses(kb.update())
    assert told == {"a.md": "changed", "b.txt": "removed", "c.txt": "added", "f.csv": "unchanged"}
    assert "two weeks" in kb.passage(int(kb.by_words("drill kept", 1)[0][0])).text
    assert not len(kb.by_words("bread", 5)[0])
    assert kb.share_changed_since(kb.generation) == 0
    assert kb.share_changed_since(before) == pytest.approx(3 / 6)


def test_what_is_taken_out_and_put_in_again_has_not_changed(tmp_path: Path, docs: Path) -> None:
    kb = KnowledgeBase(tmp_path / "y.kb")
    kb.add(docs)
    before, fingerprint = kb.generation, kb.fingerprint
    kept = (docs / "a.md").read_text("utf-8")
    write(docs, {"a.md": "# Other\n\nAll is new.\n"})
    kb.update()
    changed = kb.share_changed_since(before)
    write(docs, {"a.md": kept})
    kb.update()
    assert changed > 0.3 and kb.share_changed_since(before) == 0 and kb.fingerprint == fingerprint


def test_a_base_with_a_history_is_like_one_made_afresh(kb: KnowledgeBase, docs: Path, place: Place) -> None:
    write(docs, {"b.txt": "The bread is baked weekly.\n\nIt rained.\n"})
    kb.update()
    kb.remove(docs / "f.csv")
    kb.embed(Hashing())
    (docs / "f.csv").unlink()
    fresh = KnowledgeBase(place("fresh.kb"))
    fresh.add(docs)
    fresh.embed(Hashing())
    for question in ("bread of the week", "keep a drill", "rain"):
        assert found(kb, question) == found(fresh, question)
    assert kb.fingerprint == fresh.fingerprint


def test_alike_passages_count_once_and_stay_while_one_is_there(tmp_path: Path, place: Place) -> None:
    write(tmp_path / "docs", {"a.txt": "The same words.", "b.txt": "The same words."})
    kb = KnowledgeBase(place("x.kb"))
    kb.add(tmp_path / "docs")
    at = int(kb.by_words("words", 5)[0][0])
    assert (len(kb), kb.copies(at), Path(kb.passage(at).source).name) == (1, 1, "a.txt")
    kb.remove(tmp_path / "docs" / "a.txt")
    assert kb.by_words("words", 5)[0].tolist() == [at]
    assert (len(kb), kb.copies(at), Path(kb.passage(at).source).name) == (1, 0, "b.txt")


def test_vectors_come_bit_by_bit_and_are_not_made_twice(tmp_path: Path, place: Place) -> None:
    write(tmp_path, {"many.txt": "\n\n".join(f"Sentence number {n} of many." for n in range(300))})
    kb = KnowledgeBase(place("x.kb"))
    kb.add(tmp_path / "many.txt")
    with pytest.raises(KeyboardInterrupt):
        kb.embed(Hashing(breaks_after=2))
    kb.refresh()
    assert len(kb) == 300 and kb.embedded == 256
    assert len(kb.by_words("number 299", 1)[0]) and len(kb.by_meaning(Hashing().embed(["of"])[0], 5)[0])
    assert kb.embed(Hashing()) == 44
    assert kb.embed(Hashing()) == 0 and kb.embedded == 300


def test_a_question_counts_with_the_nearer_vector(kb: KnowledgeBase) -> None:
    places, cosines = kb.by_meaning(Hashing().embed(["How long may I keep a drill?"])[0], 10)
    assert kb.passage(int(places[0])).question == "How long may I keep a drill?"
    assert cosines[0] == pytest.approx(1, abs=0.01) and len(set(places.tolist())) == len(places) == len(kb)


def test_another_embedder_makes_all_vectors_anew(kb: KnowledgeBase) -> None:
    other = Hashing()
    other.fingerprint = "other"
    assert kb.embedder == "hashing"
    assert kb.embed(other) == len(kb)
    assert kb.embedder == "other"


def test_labels_stay_with_their_words(kb: KnowledgeBase, docs: Path) -> None:
    place = int(kb.by_words("drill", 1)[0][0])
    text = kb.passage(place).text
    kb.label("how long?", place, 1)
    kb.label("how tall?", None, 0)
    kb.remove(docs)
    first, second = kb.labels()
    assert (first.question, first.label, first.text, first.place) == ("how long?", 1, text, None)
    assert (second.question, second.label, second.text, second.place) == ("how tall?", 0, "", None)
    kb.add(docs)
    again = kb.labels()[0].place
    assert again is not None and kb.passage(again).text == text
    for wrong in (2, 1):
        with pytest.raises(UsageError):
            kb.label("how?", None, wrong)


def test_texts_with_a_name_are_kept_as_files_are(kb: KnowledgeBase) -> None:
    assert kb.put("notes", [Passage("n1", "A note on saws.")]).status == "added"
    assert kb.put("notes", [Passage("n2", "A note on axes.")]).status == "changed"
    before = kb.generation
    assert kb.put("notes", [Passage("n2", "A note on axes.")]).status == "unchanged"
    assert kb.generation == before, "nothing was written"
    assert kb.update()[-1].source != "notes" and held(kb)["notes"] == ["A note on axes."]
    passage = kb.passage(int(kb.by_words("axes", 1)[0][0]))
    assert (passage.id, passage.source) == ("n2", "notes")
    assert kb.remove("notes")[0].status == "removed"


def test_it_is_asked_like_a_library(kb: KnowledgeBase, docs: Path) -> None:
    question = "how are ladders lent?"
    ours, theirs = kb.ask(question, ranker="bm25"), demur.ask(question, docs, ranker="bm25")
    assert as_plain(ours) == as_plain(theirs)


def test_a_language_is_kept_to(kb: KnowledgeBase) -> None:
    assert kb.stem == "english"
    with pytest.raises(UsageError, match="keeps to stem=english"):
        KnowledgeBase(kb.path, "german")
    with pytest.raises(UsageError, match="keep to stem=english, not german"):
        kb.ask("Wie lange?", stem="german")


def test_a_file_that_breaks_keeps_what_was_read_of_it(kb: KnowledgeBase, docs: Path) -> None:
    write(docs.parent, {"named.txt": "By itself."})
    kb.add(docs.parent / "named.txt")
    before = held(kb)
    for broken in (docs / "b.txt", docs.parent / "named.txt"):
        broken.write_bytes(b"good line\n\nbad \xff line\n")
    write(docs, {"c.txt": "The rest goes in."})
    told = {Path(each.source).name: each for each in kb.update()}
    assert (told["b.txt"].status, told["c.txt"].status) == ("skipped", "added")
    assert "UTF-8" in told["b.txt"].reason and "\n" not in told["b.txt"].reason
    assert told["named.txt"].named and not told["b.txt"].named
    assert held(kb) == before | {"c.txt": ["The rest goes in."]}


def test_a_folder_that_is_gone_or_empty_loses_nothing(kb: KnowledgeBase, docs: Path) -> None:
    for name in HANDBOOK:
        (docs / name).unlink()
    for _ in range(2):
        told = kb.update()
        (only,) = told
        what = (
            "has no file any more that demur reads; put them back"
            if docs.exists()
            else "is gone; put it back"
        )
        assert (only.source, only.status) == (str(docs), "skipped") and only.reason.startswith(what)
        assert only.named and only.passages == len(kb)
        assert set(held(kb)) == set(HANDBOOK)
        if docs.exists():
            docs.rmdir()


def test_what_is_not_there_cannot_be_removed(kb: KnowledgeBase, docs: Path) -> None:
    with pytest.raises(DataError, match="has no source nothing"):
        kb.remove([docs / "b.txt", "nothing"])
    assert set(held(kb)) == set(HANDBOOK)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_waited_for(kb: KnowledgeBase, docs: Path) -> None:
    os.mkfifo(docs / "pipe.md")
    assert set(statuses(kb.add(docs)).values()) == {"unchanged"}
    (told,) = kb.add(docs / "pipe.md")
    assert told.status == "skipped" and "is a pipe" in told.reason
    assert len(Library(docs)) == len(kb)


def test_a_session_asks_the_base_as_it_is_now(kb: KnowledgeBase, docs: Path) -> None:
    session = demur.asking.Session.open(kb, "bm25")
    assert session.ask("How are ladders lent?").ranking.candidates[0].text.endswith("three days.")
    other = KnowledgeBase(kb.path)
    write(docs, {"a.md": "# Loans\n\nLadders are lent for nine days.\n"})
    other.update()
    other.rebuild()  # what was there before is gone for good
    assert session.ask("How are ladders lent?").ranking.candidates[0].text.endswith("nine days.")


def test_what_update_would_add_again_is_said_when_it_is_taken_out(kb: KnowledgeBase, docs: Path) -> None:
    (told,) = kb.remove(docs / "b.txt")
    assert told.status == "removed" and "the next update adds it again" in told.reason
    write(docs / "sub", {"c.txt": "In a folder of its own."})
    kb.add([docs, docs / "sub"])
    (told,) = kb.remove(docs / "sub")
    assert "the next update adds it again" in told.reason
    assert {each.reason for each in kb.remove(docs)} == {""}  # the folder is not followed any more


def test_a_file_without_text_is_told(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "blank.md").write_text("\n \n", "utf-8")
    (told,) = kb.add(tmp_path / "blank.md")
    assert (told.status, told.passages, told.reason) == ("added", 0, "there is no text in it")
