"""The paper's clean-up, line by line: one test for each step, and one for each order that matters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.embedders.word_vectors.cleaning import STOPWORDS, clean, clean_spans

STEPS = {
    "lower case": ("Paris FRANCE", ["paris", "france"]),
    "http": ("see http://a.org/b?c=1,2 now", ["see", "_url_"]),
    "https": ('"https://a.org" page', ["_url_", "page"]),
    "image": ("look [img cat.png] [img:7]", ["look", "[img", "cat", "png]", "_img_"]),
    "someone": ("ask @bob.smith please", ["ask", "_atsomeone_", "please"]),
    "mail": ("write bob@example.org today", ["write", "bob_atsomeone_", "today"]),
    "ip": ("host 10.0.0.127 down", ["host", "_ip_"]),
    "smiley, glad": ("yes:) sure ;)", ["yes", "_smileypos_", "sure", "_smileypos_"]),
    "smiley, sad": ("late:( lost ;(", ["late", "_smileyneg_", "lost", "_smileyneg_"]),
    "underscores in a row": ("snake___case ____", ["snake_case"]),
    "written apostrophe": ("cat&#39;s", ["cat"]),
    "dot in a number": ("pi 3.14", ["pi", "3_14"]),
    "comma in a number": ("cost 1,234,567", ["cost", "1_234_567"]),
    "dots": ("wait...red.blue", ["wait", "red", "blue"]),
    "question marks": ("red??blue?", ["red", "blue"]),
    "exclamation marks": ("red!!blue!", ["red", "blue"]),
    "commas": ("red,,blue,", ["red", "blue"]),
    "semicolons": ("red;;blue;", ["red", "blue"]),
    "colons": ("red::blue:", ["red", "blue"]),
    "equals": ("red==blue=", ["red", "blue"]),
    "angles": ("<<red>>blue", ["red", "blue"]),
    "brackets": ("((red))blue", ["red", "blue"]),
    "quotes": ('""red""blue', ["red", "blue"]),
    "curly quotes": ("“red”blue", ["red", "blue"]),
    "hyphens": ("red--blue well-known -", ["red-blue", "well-known"]),
    "asterisks": ("red**blue*", ["red", "blue"]),
    "tildes": ("red~~blue ~", ["red~blue"]),
    "apostrophe": ("boys' rock'n'roll", ["boys'", "rock'", "n'", "roll"]),
    "diacritics, composed": ("Café NAÏVE", ["cafe", "naive"]),
    "diacritics, decomposed": ("Cafe\u0301", ["cafe"]),
    "degree sign": ("20° warm §4", ["20", "warm", "4"]),
    "white space": ("red\tblue\u00a0green\n", ["red", "blue", "green"]),
    "stop words": ("What is the name of this ship", ["name", "ship"]),
    "punctuation": ("a & b / c $ + | {", ["b", "c"]),
    "other scripts": ("서울 हिन्दी 東京 Москва", ["서울", "हिन्दी", "東京", "москва"]),
    "emoji": ("ship 🎉", ["ship", "🎉"]),
    "nothing": (" ?! the ", []),
    "empty": ("", []),
}


@pytest.mark.parametrize(("text", "words"), STEPS.values(), ids=STEPS)
def test_step(text: str, words: list[str]) -> None:
    assert clean(text) == words


ORDERS = {
    "lower case before URLs": ("HTTP://A.ORG", ["_url_"]),
    "URLs before images, so that one inside is gone": ("http://a[img1]", ["_url_"]),
    "URLs before someone": ("http://a/@b", ["_url_"]),
    "someone before ip": ("@10.0.0.1", ["_atsomeone_"]),
    "URLs before smileys": ("http://a:)", ["_url_"]),
    "ip before numbers": ("1.2.3.4", ["_ip_"]),
    "smileys before punctuation": (":)", ["_smileypos_"]),
    "smileys before brackets; a row of them is one and a bracket": (":))", ["_smileypos_"]),
    "tags before underscores in a row": ("x_http://a", ["x_url_"]),
    "underscores in a row before numbers": ("a__1.2", ["a_1_2"]),
    "numbers before punctuation, which takes the last dot": ("1.2.", ["1_2"]),
    "written apostrophe before the apostrophe": ("o&#39;neill", ["neill"]),
    "written apostrophe before semicolons": ("&#39;t", []),
    "the apostrophe before stop words: don't is none then": ("don't", ["don'"]),
    "diacritics before stop words": ("thé", []),
    "stop words last: a tag is none": ("the :)", ["_smileypos_"]),
}


@pytest.mark.parametrize(("text", "words"), ORDERS.values(), ids=ORDERS)
def test_order(text: str, words: list[str]) -> None:
    assert clean(text) == words


def test_stop_words_are_those_of_nltk_and_can_be_kept() -> None:
    assert len(STOPWORDS) == 179
    assert {"i", "myself", "shan't", "won", "ain", "y"} <= STOPWORDS
    assert clean("What is the name?", stopwords=True) == ["what", "is", "the", "name"]


def test_places_in_the_text_as_written() -> None:
    text = "İstanbul’s Café (http://a.org) costs 1,200.50 -- bob@x.org:) don't…"
    shown = [(word, text[start:end]) for word, start, end in clean_spans(text)]
    assert shown == [
        ("istanbul’s", "İstanbul’s"),
        ("cafe", "Café"),
        ("_url_", "http://a.org)"),
        ("costs", "costs"),
        ("1_200_50", "1,200.50"),
        ("bob_atsomeone_", "bob@x.org:)"),
        ("don'", "don'"),
        ("t…", "t…"),
    ]


_TAGGED = ["http://", "https://x", "[img", "]", "@", "1.2.3.4", "1,2", ":)", ";(", "__", "&#39;", "--", "~~"]
_OTHERS = [
    "'",
    "the",
    "Ship",
    "İ",
    "ß",
    "ΑΣ",
    "é",
    "e\u0301",
    "“",
    "°",
    " ",
    "\n",
    "*",
    "...",
    "서",
    "🎉",
    "ﬁ",
]
pieces = st.sampled_from([*_TAGGED, *_OTHERS])


@given(st.lists(st.one_of(pieces, st.text(max_size=4)), max_size=12).map("".join), st.booleans())
def test_both_forms_agree_and_places_follow_each_other(text: str, stopwords: bool) -> None:
    found = list(clean_spans(text, stopwords))
    assert [word for word, _, _ in found] == clean(text, stopwords)
    starts = [start for _, start, _ in found]
    assert starts == sorted(starts)
    assert all(0 <= start < end <= len(text) for _, start, end in found)


@given(st.text(alphabet="abcXYZ ,.!?'()", max_size=60))
def test_a_word_of_plain_letters_stands_where_it_says(text: str) -> None:
    assert all(text[start:end].lower() == word for word, start, end in clean_spans(text, stopwords=True))
