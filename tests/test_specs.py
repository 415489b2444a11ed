from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.errors import UsageError
from demur.specs import Spec, listed, members_of, parse

VALUES = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.text("ab ;,=()[]\"'\\@", max_size=12),
)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True)
Tree = tuple[str, list[Any]]
TREES: st.SearchStrategy[Tree] = st.recursive(
    st.tuples(NAMES, st.just([])), lambda inner: st.tuples(NAMES, st.lists(inner, max_size=3)), max_leaves=8
)


def test_what_is_written_is_read() -> None:
    assert parse("bm25") == Spec("bm25")
    assert parse("nDCG@10") == Spec("nDCG", at=10)
    assert parse("nDCG(gain=exp)@10") == Spec("nDCG", {"gain": "exp"}, 10)
    assert parse(' bm25( k1=0.9 , stats="my file, (1).jsonl", weighted=false ) ') == Spec(
        "bm25", {"k1": 0.9, "stats": "my file, (1).jsonl", "weighted": False}
    )
    assert parse("Risk@0.8").at == 0.8


@given(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True),
    st.dictionaries(st.from_regex(r"[a-z_][a-z0-9_]{0,4}", fullmatch=True), VALUES, max_size=3),
    st.one_of(st.none(), st.integers(0, 10**9).map(float), st.floats(0, 1e6)),
)
def test_one_spelling_goes_out_and_in(name: str, settings: dict[str, bool], at: float | None) -> None:
    spec = Spec(name, dict(settings), at)
    again = parse(str(spec))
    assert again == spec
    assert {key: type(value) for key, value in again.settings.items()} == {
        k: type(v) for k, v in settings.items()
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1abc",
        "bm25(",
        "bm25(k1)",
        "bm25(k1=1 k2=2)",
        "a@b",
        "a(b=c",
        "a(k=1, k=2)",
        "a(k=[b; c)",
        "a(k=b])",
        "a(k=[b] c)",
        "a(k=(b))",
        'a(k="b)',
        "P@1..2",
        "P@.",
        "P@" + "9" * 400,
    ],
)
def test_what_cannot_be_read_is_one_line(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert repr(text) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["bm25, encoder", "bm25; encoder", "bm25 encoder", "a|b", "a(b=c, d)", "a(b=c; d)", "a(b=(c; d))"],
)
def test_a_list_that_is_written_in_another_way_is_told_how(text: str) -> None:
    with pytest.raises(UsageError, match=r"separated by semicolons: fusion\(rankers=\[bm25; encoder\]\)"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("fusion(rankers=[bm25; fusion(rankers=[mini; bm25])]", "a ) is missing at the end"),
        ("fusion(rankers=[bm25; fusion(rankers=[mini; bm25)])", "a ] is missing before character 49"),
        ("fusion(rankers=[bm25; mini])]", "the ] at character 29 is one too many"),
        ("fusion(rankers=bm25])", "the ] at character 20 is one too many"),
        ("bm25)", "the ) at character 5 is one too many"),
        ('a(b="(", c=[d)', "a ] is missing before character 14"),
        ("'bm25'", "leave them out"),
        ('"mini"', "leave them out"),
        ("fusion(rankers=[])", "the list [] is empty"),
    ],
)
def test_a_slip_is_named(text: str, fix: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert fix in str(caught.value) and "\n" not in str(caught.value)


def test_a_list_has_no_empty_place() -> None:
    assert members_of("bm25; mini;") == ["bm25", "mini"] and members_of(" ") == []
    for text, place in {"bm25;; mini": 2, "; bm25": 1}.items():
        with pytest.raises(UsageError, match=f"nothing is named at place {place}"):
            members_of(text)


def spelled(tree: Tree) -> str:
    """Rankers within rankers."""
    name, members = tree
    return str(Spec(name, {"rankers": "; ".join(map(spelled, members))} if members else {}))


def grown(text: str) -> Tree:
    """The rankers that a text spells, each read as the one that holds it would."""
    spec = parse(text)
    return spec.name, [grown(each) for each in listed(str(spec.settings.get("rankers", "")))]


@given(TREES)
def test_specs_nest_to_any_depth(tree: Tree) -> None:
    assert grown(spelled(tree)) == tree


def test_brackets_need_no_quotation_marks() -> None:
    deep = "fusion(rankers=[bm25(k1=0.9); fusion(rankers=[mini; fusion(rankers=[a; b(c='x; y')])])])"
    assert grown(deep) == (
        "fusion",
        [("bm25", []), ("fusion", [("mini", []), ("fusion", [("a", []), ("b", [])])])],
    )
    assert listed(str(parse(deep).settings["rankers"])) == [
        "bm25(k1=0.9)",
        "fusion(rankers=[mini; fusion(rankers=[a; b(c='x; y')])])",
    ]
    assert parse("feedback(first=bm25(k1=0.9, stats=dataset), top=3)").settings == {
        "first": "bm25(k1=0.9, stats=dataset)",
        "top": 3,
    }
    assert parse("a(b=c;d, e=f[1].txt)").settings == {"b": "c;d", "e": "f[1].txt"}
    assert parse(r'a(b="C:\my files", c="say \"no\"")').settings == {"b": r"C:\my files", "c": 'say "no"'}


def test_what_was_spelled_before_is_spelled_alike() -> None:
    two = str(Spec("fusion", {"rankers": 'bm25; fusion(rankers="mini; encoder")'}))
    assert two == """fusion(rankers='bm25; fusion(rankers="mini; encoder")')"""
    assert str(Spec("fusion", {"rankers": two})) == f"fusion(rankers=[{two}])"
