from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demur
from demur.asking import Library, Passage, Verdict, as_plain
from demur.errors import UsageError
from demur.rankers import Ranker
from demur.text import content, tokenize
from demur.types import Abstention, Answer, Ranking

TEXTS = [
    "Saws are lent for three weeks. A saw that is late costs a pound.",
    "Ladders are lent for three days. They cannot be renewed. A ladder needs a roof rack.",
    "The desk is open from three to seven.",
]


def answer(question: str, documents: Any = TEXTS, **settings: Any) -> Answer:
    result = demur.ask(question, documents, **({"ranker": "bm25"} | settings))
    assert isinstance(result, Answer)
    return result


def reason(question: str, documents: Any = TEXTS, **settings: Any) -> str:
    result = demur.ask(question, documents, **({"ranker": "bm25"} | settings))
    assert isinstance(result, Abstention)
    return result.reason


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("Do ladders need a roof rack?", "A ladder needs a roof rack."),
        ("Can ladders be renewed?", "Ladders are lent for three days."),  # one word in each: the first
        ("How long are saws lent?", "Saws are lent for three weeks."),
        ("When is the DESK open", TEXTS[2]),
    ],
)
def test_the_sentence_with_the_weightiest_words_is_quoted(question: str, quoted: str) -> None:
    result = answer(question)
    assert result.span is not None
    assert result.span.text == quoted
    assert result.candidate.text[result.span.start : result.span.end] == quoted


def test_rare_words_weigh_more_than_several_common_ones() -> None:
    common = ["A tool can be lent."] * 8
    texts = [f"{text} Number {n}." for n, text in enumerate(common)] + ["A tool is lent out. It has teeth."]
    assert answer("Which tool that is lent has teeth?", texts).span == answer("teeth?", texts).span


def test_an_item_of_a_list_is_quoted_without_its_marker() -> None:
    span = answer("drill?", ["Bring:\n- a saw\n- a drill"]).span
    assert span is not None
    assert span.text == "a drill"


def test_an_answer_says_where_it_stands_and_what_it_matches() -> None:
    passage = Passage("a.md:3", "It is one week.", "a.md", 3, "Loans > Drills")
    result = answer("How many weeks, or one week, for drills?", [passage, *TEXTS])
    assert result.candidate.id == "a.md:3"
    assert {
        key: result.candidate.extra[key] for key in ("source", "line", "heading", "copies", "matched")
    } == {
        "source": "a.md",
        "line": 3,
        "heading": "Loans > Drills",
        "copies": 0,
        "matched": ("weeks", "drills"),
    }
    assert 0.3 < result.candidate.extra["coverage"] < 0.7
    assert (result.confidence, result.certificate) == (None, None)


@pytest.mark.parametrize(
    ("question", "documents", "why"),
    [
        ("Do you sell violins?", TEXTS, "none of its words – sell, violins – occurs in the 3 passages"),
        ("violins?", TEXTS[:1], "its only word to look for, violins, does not occur in the one passage"),
        ("", TEXTS, "the question has no words to look for"),
        ("How is it for you?", TEXTS, "the question has no words to look for"),
        ("?!", TEXTS, "the question has no words to look for"),
        ("saws", [], "there are no passages to look in"),
        ("", [], "there are no passages to look in"),
    ],
)
def test_nothing_found_is_an_abstention_with_its_reason(
    question: str, documents: list[str], why: str
) -> None:
    assert reason(question, documents) == why


def test_copies_are_kept_once_and_counted() -> None:
    passages = [Passage(f"{n}.md:1", "Saws cut.", f"{n}.md", 1, heading) for n, heading in enumerate("AABA")]
    library = Library([*passages, *TEXTS])
    assert len(library) == 2 + len(TEXTS)
    result = answer("What cuts or cut?", library)
    assert [(c.id, c.extra["copies"]) for c in result.ranking.candidates] == [("0.md:1", 2), ("2.md:1", 0)]


def test_documents_may_be_a_path_a_text_a_passage_or_a_library(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Saws cut.", encoding="utf-8")
    for documents in (
        tmp_path,
        tmp_path / "a.txt",
        "Saws cut.",
        Passage("1", "Saws cut."),
        ["No.", "Saws cut."],
    ):
        assert answer("saws", documents).candidate.text == "Saws cut."
        assert answer("saws", Library(documents)).candidate.text == "Saws cut."


def test_a_text_that_ends_with_the_name_of_a_file_is_a_text() -> None:
    assert answer("read?", "Do read the\nREADME.md").candidate.text == "Do read the\nREADME.md"


@pytest.mark.parametrize("documents", ["handbook.md", ["faq.jsonl.gz"]])
def test_a_string_that_looks_like_a_file_is_refused(documents: Any) -> None:
    with pytest.raises(UsageError, match=r"looks like a file, but a string is a text; pass Path\('"):
        demur.ask("saws", documents)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(UsageError, match="int is not a document"):
        demur.ask("saws", [3])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="top=0"):
        demur.ask("saws", TEXTS, top=0)


def test_top_says_how_many_passages_are_shown() -> None:
    texts = [f"Saw number {n}." for n in range(80)]
    assert [len(answer("saw", texts, top=top).ranking) for top in (1, 5, 70, 90)] == [1, 5, 70, 80]


def test_a_ranker_scores_again_what_was_found() -> None:
    result = answer("ladders lent", ranker="length")
    assert [candidate.text for candidate in result.ranking.candidates] == [TEXTS[1], TEXTS[0]]
    assert list(result.ranking.scores) == [len(TEXTS[1]), len(TEXTS[0])]
    assert reason("violins", ranker="length").startswith("its only word")


def test_a_ranker_is_prepared_with_all_passages() -> None:
    plain, prepared = (
        answer("ladders lent"),
        answer("ladders lent", ranker="bm25(stats=dataset, stem=english)"),
    )
    assert prepared.ranking.scores == pytest.approx(plain.ranking.scores)
    library = Library(TEXTS)
    ready = library.prepared("bm25(stats=dataset)")
    assert library.prepared(ready) is ready


@dataclass
class Gate:
    refusal: str
    certificate: Mapping[str, Any] = field(default_factory=lambda: {"risk": 0.1})
    seen: list[Ranking] = field(default_factory=list)

    def check_ranker(self, ranker: Ranker) -> None:
        pass

    def judge(self, ranking: Ranking) -> Verdict:
        self.seen.append(ranking)
        return Verdict(0.75, self.refusal)


def test_a_gate_lets_pass_with_its_certificate_or_refuses_with_a_reason() -> None:
    texts = [f"Saw number {n}." for n in range(80)]
    passing, refusing = Gate(""), Gate("too close to call")
    result = answer("saw", texts, gate=passing, top=2)
    assert (result.confidence, result.certificate) == (0.75, {"risk": 0.1})
    assert reason("saw", texts, gate=refusing, top=2) == "too close to call"
    assert [len(gate.seen[0]) for gate in (passing, refusing)] == [50, 50]
    assert reason("violin", texts, gate=passing).startswith("its only word")
    assert len(passing.seen) == 1  # there was nothing to judge


def test_answers_and_abstentions_are_plain_values_for_json() -> None:
    found = json.loads(json.dumps(as_plain(demur.ask("ladders?", TEXTS, "bm25", Gate("")))))
    assert found["abstained"] is False
    assert found["reason"] is None
    assert found["answer"]["span"] == {"start": 0, "end": 32, "text": "Ladders are lent for three days."}
    assert (found["answer"]["confidence"], found["answer"]["certificate"]) == (0.75, {"risk": 0.1})
    assert found["ranking"][0].items() <= found["answer"].items()
    nothing = as_plain(demur.ask("violins?", TEXTS, "bm25"))
    assert nothing["abstained"] is True
    assert (nothing["answer"], nothing["ranking"]) == (None, [])
    assert "violins" in nothing["reason"]


WORDS = st.text(st.sampled_from("abAß😀 .\n-é語"), max_size=12)


@settings(max_examples=150)
@given(WORDS, st.lists(WORDS, max_size=5))
def test_there_is_an_answer_if_and_only_if_a_word_occurs(question: str, texts: list[str]) -> None:
    wanted = set(content(tokenize(question)))
    result = demur.ask(question, texts, "bm25")
    assert isinstance(result, Answer) == any(wanted & set(tokenize(text)) for text in texts)
    for candidate, score in result.ranking:
        assert score > 0
        assert set(candidate.extra["matched"]) == wanted & set(tokenize(candidate.text))
        span = candidate.extra["span"]
        assert candidate.text[span.start : span.end] == span.text
    assert sorted(result.ranking.scores, reverse=True) == list(result.ranking.scores)


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("cafés", "english"),
        ("naïve", "english"),
        ("façades", "english"),
        ("Häuser", "german"),
        ("книги", "russian"),
    ],
)
def test_words_with_accents_are_found_whatever_is_stemmed(word: str, stem: str) -> None:
    result = demur.ask(f"{word}?", [f"Here {word} stand.", "It rains."], "bm25", stem=stem)
    assert isinstance(result, Answer) and result.candidate.id == "0"


def test_endings_are_cut_beyond_ascii() -> None:
    assert isinstance(demur.ask("книги?", ["Это моя книга.", "Дождь."], "bm25", stem="russian"), Answer)
