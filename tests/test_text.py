from __future__ import annotations

import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur import tokens
from demur.text import STOPWORDS, content, fold, said, stemmer, token_spans, tokenize
from demur.tokens import chunks, hash_words, read_words

TEXTS = st.text(
    st.one_of(st.characters(), st.sampled_from("aAzZ09 ?.,'-_\n\x1e\u0301é日本🎉हि")), max_size=40
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Who invented the telegraph?", ["who", "invented", "the", "telegraph"]),
        ("It's 3.5 km, e-mail me_now", ["it", "s", "3", "5", "km", "e", "mail", "me", "now"]),
        ("cafe\u0301 café CAFÉ", ["café", "café", "café"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("東京 2020", ["東", "京", "2020"]),
        ("so 🎉🎉 good", ["so", "🎉", "🎉", "good"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("", []),
        ("?!… —", []),
    ],
)
def test_words_of_a_text(text: str, words: list[str]) -> None:
    assert tokenize(text) == words


def test_spans_point_into_the_text_as_written() -> None:
    text = "The CAFÉ (1950s) 東京"
    assert [(word, text[a:b]) for word, a, b in token_spans(text)] == [
        ("the", "The"),
        ("café", "CAFÉ"),
        ("1950s", "1950s"),
        ("東", "東"),
        ("京", "京"),
    ]


def test_content_drops_function_words_only() -> None:
    assert content(tokenize("How do I reset my router?")) == ["reset", "router"]
    assert all(word == fold(word) and tokenize(word) == [word] for word in STOPWORDS)


@given(st.lists(TEXTS, max_size=6))
@settings(max_examples=150)
def test_hashed_words_are_the_words(texts: list[str]) -> None:
    hashes, counts = hash_words(texts)
    words = [tokenize(text) for text in texts]
    assert counts.tolist() == [len(each) for each in words]
    flat = [word for each in words for word in each]
    seen = dict(zip(flat, hashes.tolist(), strict=True))
    assert [seen[word] for word in flat] == hashes.tolist(), "equal words have equal hashes"
    assert len(set(seen.values())) == len(seen), "different words have different hashes"


@given(TEXTS.filter(bool), TEXTS)
def test_a_word_hashes_alike_wherever_it_stands(text: str, before: str) -> None:
    alone = read_words([text])
    after = read_words([before, text])
    tail = slice(int(after.counts[0]), None)
    assert after.hashes(tail).tolist() == alone.hashes().tolist()
    assert after.sketches()[tail].tolist() == alone.sketches().tolist()
    assert alone.hashes(np.arange(len(alone.first))[::-1]).tolist() == alone.hashes().tolist()[::-1]


def hash_word(word: str) -> int:
    """The hash of a text that is one word; 0 where it is not."""
    hashes, _ = hash_words([word])
    return int(hashes[0]) if len(hashes) == 1 else 0


def test_no_more_stems_are_remembered_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_MOST_STEMS", 50)
    expected = hash_words(["sailing ships"], "english")[0].tolist()
    for n in range(0, 400, 40):
        hash_words([" ".join(f"invented{each}ing" for each in range(n, n + 40))], "english")
        assert len(tokens._known_stems("english")) <= 50 + 42
        assert hash_words(["sailing ships"], "english")[0].tolist() == expected


def test_long_texts_and_many_chunks_change_nothing() -> None:
    texts = ["alpha beta " * 20_000, "gamma", "", "alpha" * 50_000, *["beta"] * 70_000]
    assert len(list(chunks(texts))) > 3
    hashes, counts = hash_words(texts)
    assert counts[:5].tolist() == [40_000, 1, 0, 1, 1]
    assert hashes[1] == hashes[-1] == hash_word("beta")
    assert hash_word("two words") == 0


def test_composed_and_decomposed_texts_are_one() -> None:
    for word in ("Ångström", "naïve", "Việt"):
        assert hash_word(word) == hash_word(unicodedata.normalize("NFD", word)) != 0


def test_threads_may_cut_endings_together() -> None:
    words = [
        a + b for a in ("relat", "nation", "hope", "operat") for b in ("ional", "fulness", "ing", "ively")
    ]
    alone = [stemmer("english")(word) for word in words]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            for _ in range(5):
                stemmer.cache_clear()
                cut = stemmer("english")
                assert list(threads.map(lambda _: [cut(word) for word in words], range(4))) == [alone] * 4  # noqa: B023
    finally:
        sys.setswitchinterval(before)


def test_no_language_cuts_numbers() -> None:
    """`Words.stems` leaves them alone, as stemming a hundred thousand of them takes seconds."""
    import snowballstemmer

    for language in snowballstemmer.algorithms():
        cut = stemmer(language)
        assert all(cut(number) == number for number in map(str, [*range(0, 2000, 7), 1234567, 9999999]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What does ?? do in C#", "What does ? do in C#"),
        ("What does '?' mean", "What does '!' mean"),
        ("What does :) mean", "What does :( mean"),
        ("What is 2*(3+4)?", "What is 2*3+4?"),
        ("the | operator", "the - operator"),
        ("What does ... do in SQL?", "What does . do in SQL?"),
        ("Why is my balance -€20?", "Why is my balance €20?"),
        ("charged $.50", "charged $50"),
        ("nib (5 mm)", "nib (.5 mm)"),
        ("at 5 d", "at -.5 d"),
        ("type @ on", "type & on"),
        ("a && b", "a || b"),
        ("x = 5", "x != 5"),
        ("[] in", "{} in"),
        ("a 5' pole", 'a 5" pole'),
        ("group A", "group A-"),
        ("10 - 2", "10 / 2"),
        ("Welche Maße", "Welche Masse"),
        ("What is 5!?", "What is 5?"),
        ("What does :: do in C++?", "What does ; do in C++?"),
        ("What is .NET.", "What is NET"),
        ("f() c", "f c"),
        ("👍🏽 ok", "👍 ok"),
        ("10:30 h", "10.30 h"),
        ("snake_case", "snake case"),
        ("5* room", "5 room"),
        ("24-7", "24 7"),
        ("H₂O", "H2O"),
        ("x² b", "x2 b"),
        ("Was ist 1.000?", "was ist 1000"),
        ("Linz ← Graz", "Linz → Graz"),
        ("क्या की", "क्या का"),
        ("STRASSE a", "straße a"),
        ("What is 10^3", "What is 10^-3"),
        ("C#", "C++"),
        ("1.5 m", "1 5 m"),
    ],
)
def test_a_sign_makes_another_question(one: str, other: str) -> None:
    assert said(one) != said(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("nib (5 mm)?", "nib 5 mm"),
        ("10 - 2", "10-2"),
        ("−15 °C", "-15 °C"),
        ("5–7 days", "5-7 days"),
        ("❤", "❤️"),
        ("１２３", "123"),
        ("≥ 5", ">= 5"),
        ("Liefer\u00adzeit hier", "Lieferzeit hier"),
        ("Combien ça coûte ?", "combien ça coûte"),
        ("“Where” is it?", "Where is it"),
        ("Don’t we?", "don't we"),
        ("Is the drop-off open?", "Is the drop off open"),
        ("e-mail, please!", "E-Mail please"),
        ("FAQ – how, when?", "FAQ — how, when?"),
        ("你好，世界。", "你好 世界"),
        ("a (b) c", "a b c"),
        ("ОДИН", "один"),
        ("`pip` install", "pip install"),
        ('"How?" he said.', "how he said"),
        ('He said "how?"', "he said how"),
        ("Covid-19 a", "covid 19 a"),
        ("It costs $5.", "it costs $5"),
        ("1. How", "1 how"),
        ("كيف أدفع؟", "كيف أدفع"),
        ("İstanbul'a", "istanbul a"),
        ("I´m here", "i'm here"),
        ("Pay (by card)?", "pay by card"),
        ("Is 5 > 3 always true?", "is 5 > 3 always true"),
        ("Café open?", "Café open"),
        ("Wie heißt „das“?", "wie heißt das"),
    ],
)
def test_punctuation_and_spelling_make_no_other_question(one: str, other: str) -> None:
    assert said(one) == said(other)
