from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("selectolax")

from demur.kb.files.limits import Limits
from demur.kb.formats.webpage import passages_of_markup, passages_of_page
from demur.kb.formats.webpage_depth import shallow
from demur.kb.passages import LONG, Passage


def read(html: str | bytes) -> list[Passage]:
    return list(passages_of_markup(html, "a.html"))


def told(html: str | bytes) -> list[tuple[str, str, str]]:
    return [(p.source.removeprefix("a.html"), p.heading, p.text) for p in read(html)]


def asked(html: str) -> list[tuple[str, str, str]]:
    return [(p.source.removeprefix("a.html"), p.question, p.text) for p in read(html)]


def faq(*entries: tuple[str, str]) -> str:
    many = [
        {"@type": "Question", "name": question, "acceptedAnswer": {"@type": "Answer", "text": answer}}
        for question, answer in entries
    ]
    data = {"@context": "https://schema.org", "@graph": [{"@type": ["FAQPage"], "mainEntity": many}]}
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


def test_headings_make_a_trail_and_ids_make_sources() -> None:
    html = (
        "<section id=loans><h1>Loans</h1><p>One.<h3><a name=deep></a>Deep</h3><p>Two.</section><p>Three."
        "<div><h2 id=fees>Fees</h2></div><p>Four.<h2>More</h2>Five."
    )
    assert told(html) == [
        ("#loans", "Loans", "One."),
        ("#deep", "Loans > Deep", "Two."),
        ("", "Loans > Deep", "Three."),
        ("#fees", "Loans > Fees", "Four."),
        ("", "Loans > More", "Five."),
    ]


def test_a_page_without_a_first_heading_has_its_title() -> None:
    assert told("<title> The  desk </title><p>One.<h2>Two</h2><p>Three.") == [
        ("", "The desk", "One."),
        ("", "The desk > Two", "Three."),
    ]
    assert told("<title>The desk</title><h1>One</h1><p>Two.") == [("", "One", "Two.")]


def test_what_no_reader_sees_is_left_out() -> None:
    html = (
        "<nav>a</nav><div role=navigation>b</div><p>One<!-- c --> <b>t</b>wo<br>three.<script>d</script>"
        "<style>e</style><svg><title>f</title></svg><noscript>g</noscript><select><option>h</select>"
        "<template>i</template><del>j</del><s>k</s>"
    )
    assert told(html) == [("", "", "One two three.")]


def test_the_main_part_of_a_page_is_read() -> None:
    assert told("<body><div>Menu</div><main id=m><p>One.</main><footer>End") == [("#m", "", "One.")]
    assert told("<body><div>Menu</div><main></main>") == [("", "", "Menu")]


def test_lists_come_with_their_lead_in() -> None:
    html = "<p>Bring:</p><ul><li>a <i>saw</i><ol><li><p>sharp</p><li>clean</ol><li>a drill</ul><p>Bye:<p>Now."
    assert told(html) == [
        ("", "", "Bring:\n- a saw\n1. sharp\n2. clean\n- a drill"),
        ("", "", "Bye:"),
        ("", "", "Now."),
    ]


def test_a_long_list_is_parted_between_items_under_the_same_lead_in() -> None:
    items = [f"tool number {n} is kept on the shelf with the number {n}" for n in range(40)]
    found = read(f"<p>On the shelves:</p><ul>{''.join(f'<li>{item}' for item in items)}</ul>")
    assert len(found) > 1
    assert all(p.text.startswith("On the shelves:\n- tool") and len(p.text) <= LONG for p in found)
    assert [line for p in found for line in p.text.split("\n")[1:]] == [f"- {item}" for item in items]


def test_tables_are_read_by_rows() -> None:
    html = (
        "<table><caption>Prices</caption><tr><th>Tool<th>Days<tr><td>saw<td><b>2</b>1<tr><td>x<td></table>"
        "<table><tr><th>Phone<td>123<tr><th>Post<td>Main Street</table>"
        "<table><tr><td><h2>Laid out</h2><p>One.<td><p>Two.</table>"
    )
    assert [text for _, _, text in told(html)] == [
        "Prices",
        "Tool: saw; Days: 21",
        "Tool: x",
        "Phone; 123",
        "Post; Main Street",
        "One.",
        "Two.",
    ]


def test_code_is_kept_as_typed_with_its_lead_in() -> None:
    assert told("<p>Run:</p><pre>\nls  *\n\n  cd <b>x</b>\n</pre>") == [("", "", "Run:\nls  *\n\n  cd x")]


def test_definitions_are_under_their_terms() -> None:
    html = "<dl><dt>Deposit<dt>Pledge<dd>Ten euros.<dt id=w>When?<dd>At noon.<dd>Or later.</dl><p>End."
    assert asked(html) == [
        ("", "", "Deposit / Pledge: Ten euros."),
        ("#w", "When?", "At noon.\n\nOr later."),
        ("", "", "End."),
    ]


def test_what_unfolds_is_under_its_summary() -> None:
    html = (
        "<h2>Desk</h2><details id=d><summary><h3>How long?</h3></summary><p>A week.<p>Or two.</details>"
        "<details><summary>More</summary>Three.</details><p>End."
    )
    assert [(p.source, p.heading, p.question, p.text) for p in read(html)] == [
        ("a.html#d", "Desk > How long?", "How long?", "A week.\n\nOr two."),
        ("a.html", "Desk > More", "", "Three."),
        ("a.html", "Desk", "", "End."),
    ]


def test_questions_that_json_names_are_found_on_the_page_or_else_added() -> None:
    html = faq(
        ("Can I renew?", "<p>Yes, <b>twice</b>.</p>"), ("Hidden?", "Tom &amp; <b>I</b>."), ("Fees", "20 p.")
    )
    html += "<div id=r>Can I  renew ?</div><div>Yes, twice.</div><h3 id=f>Fees</h3><p>20 p."
    assert asked(html) == [
        ("", "Can I renew ?", "Yes, twice."),
        ("#f", "Fees", "20 p."),
        ("", "Hidden?", "Tom & I."),
    ]


def test_questions_in_microdata() -> None:
    html = (
        '<div itemscope itemtype="https://schema.org/FAQPage"><div id=q itemprop=mainEntity itemscope '
        'itemtype="https://schema.org/Question"><span itemprop=name>Where is it</span><div itemscope '
        'itemprop=acceptedAnswer itemtype="https://schema.org/Answer"><div itemprop=text><p>Here.</div></div>'
    )
    assert asked(html) == [("#q", "Where is it", "Here.")]


@pytest.mark.parametrize(
    "data", ["{", "[" * 100_000, "3", '{"@type": "Question", "name": 3}', '{"@type": {}}']
)
def test_broken_data_does_no_harm(data: str) -> None:
    assert told(f'<script type="application/ld+json">{data}</script><p>One.') == [("", "", "One.")]


def test_other_encodings_that_a_page_names() -> None:
    page = "<meta charset=windows-1252><p>Größe"
    assert told(page.encode("cp1252")) == [("", "", "Größe")]
    assert told("<p>Größe".encode()) == [("", "", "Größe")]


def test_pages_as_deep_as_they_like() -> None:
    for tag in ("div", "b", "ul><li", "details", "table><tr><td", "blockquote", "dl><dd"):
        assert "word" in " ".join(p.text for p in read(f"<{tag}>" * 3000 + "word"))


@pytest.mark.parametrize(
    "tag", ["<div>", "<div>a ", "<section><dl><dd>a ", "<ul><li>a ", "<p><span>a ", "<b>a</b> ", "<b>?</b> "]
)
def test_a_page_as_deep_or_as_broken_as_can_be_is_read_in_one_pass(tag: str) -> None:
    assert "word" in " ".join(p.text for p in read(tag * 50_000 + "word"))


def test_only_the_tags_of_what_is_too_deep_are_left_out() -> None:
    flat = "<p>one<li>two<br>" * 2000 + "<div><h2>Head</h2></div>" * 600
    noted = "<!--" + "<div>" * 900 + "--><script>" + "'<div>'" * 900 + "</script><h2>Head</h2><p>One."
    for page in (flat, flat.encode(), noted):
        assert shallow(page) == page
    deep = "<div>" * 511 + "<b>" + "<div>x<i>y</i></div>" + "</b><h2>"
    assert shallow(deep) == "<div>" * 511 + "<b> xy </b><h2>"
    assert shallow(deep.encode("utf-16")) == shallow(deep)


PIECES = [
    *("<p>", "<div>", "</div>", "<h2>", "</h2>", "<ul>", "<li>", "</ul>", "<table>", "<tr>", "<td>", "<th>"),
    *("<b>", "</b>", "<dl>", "<dt>", "<dd>", "<details>", "<summary>", "<pre>", "<br>", "<section id=x>"),
    *("</section>", "word", "Word:", "What?", "<!-- -->"),
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from([*PIECES, " "]), max_size=30).map("".join))
def test_nothing_is_made_up_and_no_page_fails(html: str) -> None:
    for passage in read(html):
        assert passage.text.strip() and passage.line is None
        for word in passage.text.replace(":", " ").replace(";", " ").split():
            assert word in ("-", "/", "1.") or any(piece in word for piece in ("ord", "hat")), passage


def test_no_word_of_a_page_is_lost() -> None:
    html = (
        "a1<p>b1<ul>c1<li>d1<p>e1</ul>f1<table><tr><td>g1<td>h1</table>i1<dl><dt>j1<dd>k1<dt>l1</dl>"
        "<details>m1<summary>n1</summary>o1</details><b>p1<div>q1</div></b>r1<button>s1</button>"
    )
    everything = " ".join(f"{p.heading} {p.text}" for p in read(html))
    missing = [f"{letter}1" for letter in "abcdefghijklmnopqrs" if f"{letter}1" not in everything]
    assert not missing


@pytest.mark.parametrize("head", ["", "<meta charset=iso-8859-15>"])
def test_old_pages_are_read_as_browsers_read_them(head: str) -> None:
    page = f"<html>{head}<h2>Welche Größe habt ihr?</h2><p>Größe 38 bis 46.</p></html>"
    (found,) = passages_of_page(page.encode("iso-8859-15"), "old.html", Limits.of_environment())
    assert (found.heading, found.text) == ("Welche Größe habt ihr?", "Größe 38 bis 46.")


def test_a_broken_byte_leaves_the_rest_of_a_page_as_it_is() -> None:
    page = "<h2>Welche Größe?</h2><p>Größe 38.</p>".encode() + b"<p>Caf\xe9.</p>"
    (found,) = passages_of_page(page, "new.html", Limits.of_environment())
    assert (found.heading, found.text) == ("Welche Größe?", "Größe 38.\n\nCaf\ufffd.")
