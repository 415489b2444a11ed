from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from demur.sentences import sentences

# One case to a line; a sentence ends where | stands.
CASES = """
It rained. | We stayed in.
Dr. Mora met Mrs. Hale in St. Albans. | They talked.
The U.S. Navy came. | It left the U.S. | The end.
She read J. R. R. Tolkien and C. S. Lewis. | Then she slept.
He takes vitamin C. | It helps.
It costs 3.14 dollars, i.e. not much. | Fine.
Use a tool, e.g. Hammer 7, and cf. Fig. 3 below. | Then stop.
Acme Inc. | It was sold to Umbra Corp. | This pleased many.
Acme Inc. Holdings grew.
See No. 5, pp. 12 and vol. 3. | No. | He did not.
On Sept. 11 it began. | On July 3, 2012. | The rest is known.
It ended in Sept. | The rest is known.
Wait... what? | Who said that?! | Nobody.
He stopped . . . and went on. | And on . . . | Then he left.
"Is it so?" he asked. | "It is." | "Good!" | She left.
He said “Go.” | She went (slowly). | They met.
They won (see p. 4. The rest is there.) and left.
The quote [...] goes on. | It ends.[citation needed] | Next.[12][13] | Last.
Yahoo! is a name. | We met at 5 p.m. | We ate at 6 a.m. sharp.
A Ph.D. student, b. 1970, d. 1999. | Another came.
The list: 1. Open the box; 2. Close it. | Done.
Speeds reach 110 MB/s. | Mask tests follow. | At St. John's. | All of it.
Version 2.0.1 of node.js is at www.example.org/index.html. | Fetch it.
"I go. | You stay." | They parted.
Ends without a stop
One! | Two? | Three
他来了。|她走了！|真的？|是的
「行こう。」|彼は言った。
هل جاء؟ | نعم جاء. | ثم ذهب.
वह आया। | वह गया।
She is 5 ft. tall. | He is 6 ft. | They match.
etc. and so on. | Apples, pears, etc. | The rest is trade.
The case Roe v. Wade stands. | Smith et al. (2007) agree.
"""


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_tricky_cases(case: str) -> None:
    text = case.replace(" | ", " ").replace("|", "")
    assert [span.text for span in sentences(text)] == [part.strip() for part in case.split("|")]


def test_empty_lines_and_list_items_end_sentences_but_a_wrapped_line_does_not() -> None:
    text = "A title\n\nFirst line\ngoes on. Second\n- an item\n- another\n1. first\n2) second\r\n\r\nLast"
    assert [span.text for span in sentences(text)] == [
        "A title",
        "First line\ngoes on.",
        "Second",
        "- an item",
        "- another",
        "1. first",
        "2) second",
        "Last",
    ]


def test_the_number_of_an_item_is_no_sentence() -> None:
    assert [span.text for span in sentences("1. Open the box.\n2. Close it.")] == [
        "1. Open the box.",
        "2. Close it.",
    ]


def test_dots_and_quotes_alone_stay_with_what_they_follow() -> None:
    assert [span.text for span in sentences('He was thirty. " ... Then he left.')] == [
        'He was thirty. " ...',
        "Then he left.",
    ]
    assert [span.text for span in sentences("... !")] == ["... !"]


def test_nothing_gives_nothing() -> None:
    assert sentences("") == sentences(" \n\t ") == []


WORDS = st.sampled_from(
    [
        "Dr.",
        "U.S.",
        "The",
        "it",
        "3.",
        "1.",
        "(",
        ")",
        '"',
        "...",
        ".",
        "!",
        "?!",
        "\n",
        "\n\n",
        "- ",
        "。",
        " ",
        "e.g.",
        "A",
    ]
)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(WORDS, max_size=30).map(" ".join),
        st.lists(WORDS, max_size=30).map("".join),
    )
)
@example("a\x1c.\x1c B")
def test_spans_are_ordered_and_leave_out_only_white_space(text: str) -> None:
    end = 0
    for span in sentences(text):
        assert span.start >= end
        assert not text[end : span.start].strip()
        assert span.text == text[span.start : span.end]
        assert span.text
        assert span.text == span.text.strip()
        end = span.end
    assert not text[end:].strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "." * 1_000_000 + "x",
        ". " * 500_000,
        "a. b. " * 170_000,
        "(a. B " * 170_000,
        "J. " * 330_000,
        "? " * 400_000,
        "\n" * 1_000_000,
        '."' * 500_000 + "x",
        "." + "[a]" * 300_000 + "x",
        "x" * 1_000_000,
        "。" * 1_000_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_a_megabyte_takes_linear_time(text: str) -> None:
    spans = sentences(text)  # a quadratic rule would take hours, and meet the suite's limit
    assert sum(len(text[span.start : span.end].split()) for span in spans) == len(text.split())


@pytest.mark.data
def test_answers_of_squad_lie_within_one_sentence() -> None:
    from demur.data import stream

    inside = total = 0
    context, spans = "", sentences("")
    for pool in stream("squad/1.1/dev"):
        if pool.answers[0] != context:
            context, spans = pool.answers[0], sentences(pool.answers[0])
        start = pool.extra["answers"][0]["answer_start"]
        end = start + len(pool.extra["answers"][0]["text"].rstrip())
        inside += any(span.start <= start and end <= span.end for span in spans)
        total += 1
    assert total == 10570
    assert inside / total > 0.999
