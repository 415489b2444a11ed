"""What a base on a server does, whether it is in PostgreSQL or on an object store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from demur.errors import LostBase, UsageError
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from kb.base_toys import CHANGES, Hashing, found, held, write
from kb.places import address, docs, kb, refused, taken_away

__all__ = ["address", "docs", "kb"]  # fixtures


def test_it_finds_by_words_what_a_folder_finds_with_the_same_scores(address: str, tmp_path: Path) -> None:
    colours = ["red", "green", "blue", "grey"]
    texts = [
        f"{' '.join(colours[: n % 4 + 1] * (n % 3 + 1))} house {n} of {'brick ' * (n % 7)}"
        for n in range(900)
    ]
    both = [KnowledgeBase(address), KnowledgeBase(tmp_path / "x.kb")]
    for base in both:
        base.put("houses", [Passage(f"h{n}", text) for n, text in enumerate(texts)])
        base.put("more", [Passage("m", "A red house."), Passage("n", "blue " * 300)])
        base.remove("more")
    for question in ("red brick house", "blue", "grey house 17", "brick brick grey", "house", "absent"):
        ours, theirs = (base.by_words(question, 20) for base in both)
        assert ours[1].tolist() == theirs[1].tolist() and len(ours[0]) == (0 if question == "absent" else 20)
        assert [both[0].passage(n).id for n in ours[0]] == [both[1].passage(n).id for n in theirs[0]]


def test_nothing_of_a_change_is_seen_before_it_is_whole(kb: KnowledgeBase) -> None:
    other = KnowledgeBase(kb.path)
    before = held(other), other.generation

    def passages() -> Iterator[Passage]:
        yield Passage("1", "A rake is lent.")
        other.refresh()
        assert (held(other), other.generation) == before and not len(other.by_words("rake", 5)[0])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kb.put("tools", passages())
    assert (held(kb), kb.generation) == before


def test_rebuilding_changes_nothing_but_vectors(kb: KnowledgeBase) -> None:
    before = found(kb, "drill lent")
    kb.rebuild()
    assert not kb.embedded and not kb.embedder
    assert kb.embed(Hashing()) == 3 and found(kb, "drill lent") == before


def test_a_base_to_which_nothing_is_added_is_not_made(address: str, tmp_path: Path) -> None:
    write(tmp_path, {"a.csv": "no,such\ncolumns,here"})
    kb = KnowledgeBase(address)
    assert [each.status for each in kb.add(tmp_path / "a.csv")] == ["skipped"] and not kb.there
    assert [each.status for each in kb.add(tmp_path / "nowhere")] == ["skipped"] and not kb.there
    write(tmp_path, {"b.txt": "A drill is lent."})
    assert [each.status for each in kb.add(tmp_path / "b.txt")] == ["added"] and kb.there


def test_a_gate_is_kept_with_the_base(kb: KnowledgeBase) -> None:
    assert not kb.gate_state() and not kb.gate_file().exists()
    kb.keep_gate(lambda path: path.write_text('{"a": 1}', "utf-8"))
    other = KnowledgeBase(kb.path)
    state = other.gate_state()
    assert state and other.gate_file().read_text("utf-8") == '{"a": 1}'
    kb.keep_gate(lambda path: path.write_text('{"a": 2}', "utf-8"))
    assert other.gate_state() != state and other.gate_file().read_text("utf-8") == '{"a": 2}'


def test_one_who_writes_waits_for_another_or_is_told(kb: KnowledgeBase) -> None:
    other = KnowledgeBase(kb.path, wait=0.2)
    refused = pytest.raises(UsageError, match="another process writes to it; try again")
    with kb._writing() as truth, truth.turn(), refused:
        other.put("one", [Passage("1", "A rake.")])
    assert other.put("one", [Passage("1", "A rake.")]).status == "added"
    with kb._store.embedding(0), pytest.raises(UsageError, match="another process writes to it"):
        other.embed(Hashing())
    assert other.embed(Hashing()) == 1


def test_no_base(address: str) -> None:
    assert "there is no knowledge base; make one with demur kb add" in refused(address)


@pytest.mark.parametrize("write", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("replaced", [False, True])
def test_a_base_that_is_gone_or_another_takes_no_change(
    kb: KnowledgeBase, address: str, write: Callable[[KnowledgeBase], object], replaced: bool
) -> None:
    kb.label("was it lent?", None, 0)
    taken_away(address)
    if replaced:
        other = KnowledgeBase(address)
        other.put("one", [Passage("1", "A hoe is lent.")])
        other.label("was it lent?", None, 0)
    with pytest.raises(LostBase, match="was replaced by another" if replaced else "is gone"):
        write(kb)
    if replaced:
        assert held(KnowledgeBase(address)) == {"one": ["A hoe is lent."]}
