"""What is written is read back equal, or refused in one line that names the file and the pool."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.data import formats
from demur.errors import DataError
from demur.types import Candidate, Pool

NAMES = {
    "jsonl": "pools.jsonl",
    "tsv": "pools.tsv",
    "csv": "pools.csv.gz",
    "parquet": "pools.parquet",
    "beir": "folder",
    "squad": "squad.json",
    "tevatron": "train.jsonl.gz",
}

ODD = st.sampled_from(
    [
        "",
        " ",
        "\t",
        "\n",
        "\r",
        "\r\n",
        "\u2028",
        "\u0085",
        "\0",
        '"',
        '",',
        "\\",
        "\ufeff",
        "😀",
        "عربي",
        "e\u0301",
    ]
)
texts = st.lists(st.one_of(ODD, st.text(max_size=8)), max_size=3).map("".join)
plain = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r"), max_size=12)
words = plain.filter(bool)
finite = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.one_of(st.integers(), finite)
leaves = st.one_of(st.none(), st.booleans(), numbers, texts)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
taken = {"id", "question", "candidates", "text", "label", "_id", "query", "query_id", "docid", "title"}
extras = st.dictionaries(
    texts.filter(lambda key: key not in taken and "_passages" not in key), values, max_size=2
)
labels = st.none() | st.integers(-(2**63), 2**63 - 1)


def candidates(
    ids: st.SearchStrategy[str] = texts,
    answers: st.SearchStrategy[str] = texts,
    marks: st.SearchStrategy[Any] = labels,
    extra: st.SearchStrategy[Any] = extras,
    least: int = 0,
) -> st.SearchStrategy[tuple[Candidate, ...]]:
    one = st.builds(Candidate, ids, answers, marks, extra)
    return st.lists(one, min_size=least, max_size=4, unique_by=lambda candidate: candidate.id).map(tuple)


anything = st.lists(st.builds(Pool, texts, texts, candidates(), extras), max_size=3)


def table(answers: st.SearchStrategy[str]) -> st.SearchStrategy[list[Pool]]:
    names = st.lists(
        words.filter(lambda name: name not in ("score",) and name.isascii() and name.islower()), max_size=2
    )

    def of(names: list[str]) -> st.SearchStrategy[list[Pool]]:
        names = [f"x{name}" for name in dict.fromkeys(names)]
        first = {name: answers.filter(bool) for name in names} | {"score": finite}
        extra = st.fixed_dictionaries(first) if names else st.just({})
        pool = st.builds(Pool, words, answers, candidates(words, answers, labels, extra, least=1))
        return st.lists(pool, max_size=3, unique_by=lambda pool: pool.id)

    return names.flatmap(of)


def own_documents(pools: list[Pool]) -> list[Pool]:
    """The same pools with candidate ids that no two of them share."""
    return [
        Pool(
            pool.id,
            pool.question,
            tuple(Candidate(f"{n}/{one.id}", one.text, one.label, one.extra) for one in pool.candidates),
            pool.extra,
        )
        for n, pool in enumerate(pools)
    ]


def titled(pools: list[Pool]) -> list[Pool]:
    """The same pools with a title before every text."""
    return [
        Pool(
            pool.id,
            pool.question,
            tuple(
                Candidate(
                    one.id, f"A title {one.text}".rstrip(" "), one.label, {**one.extra, "title": "A title"}
                )
                for one in pool.candidates
            ),
            pool.extra,
        )
        for pool in pools
    ]


judged = st.lists(
    st.builds(Pool, plain, texts, candidates(plain, texts, st.integers(-5, 5), extras, least=1), extras),
    max_size=3,
    unique_by=lambda pool: pool.id,
)
answered = st.fixed_dictionaries({"text": texts, "answer_start": st.integers(0, 9)})


@st.composite
def squad(draw: st.DrawFn) -> list[Pool]:
    pools = []
    for n in range(draw(st.integers(0, 4))):
        title, number, answers = draw(plain), draw(st.integers(0, 3)), draw(st.lists(answered, max_size=2))
        extra: dict[str, Any] = {"title": title, "paragraph": number, "answers": answers}
        label: int | None = 1 if answers else None
        if draw(st.booleans()):
            extra["is_impossible"] = draw(st.booleans())
            label = 0 if extra["is_impossible"] else 1
        paragraph = Candidate(f"{'_'.join(title.split())}-{number}", draw(texts), label)
        pools.append(Pool(f"q{n}", draw(texts), (paragraph,), {**draw(extras), **extra}))
    return pools


EXPRESSIBLE = {
    "jsonl": anything,
    "tsv": table(plain),
    "csv": table(texts),
    "parquet": anything,
    "beir": judged.map(own_documents) | judged.map(own_documents).map(titled),
    "squad": squad(),
    "tevatron": judged | judged.map(titled),
}


def again(
    pools: Sequence[Pool], format: str, check: Callable[[Path], None] = lambda path: None
) -> list[Pool]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAMES[format]
        assert formats.write_pools(path, iter(pools), format) == len(pools)
        check(path)
        return list(formats.read_pools(path, format))


@pytest.mark.parametrize("format", EXPRESSIBLE)
def test_every_format_that_is_written_is_tested_here(format: str) -> None:
    assert formats.FORMATS[format].write is not None
    assert EXPRESSIBLE.keys() == {name for name, one in formats.FORMATS.items() if one.write}


@pytest.mark.parametrize("format", EXPRESSIBLE)
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_what_a_format_can_hold_comes_back_equal(format: str, data: st.DataObject) -> None:
    pools = data.draw(EXPRESSIBLE[format])
    assert again(pools, format) == pools


@pytest.mark.parametrize("format", EXPRESSIBLE)
@settings(max_examples=50, deadline=None)
@given(pools=st.one_of(anything, judged, squad()))
def test_any_pools_come_back_equal_or_are_refused(format: str, pools: list[Pool]) -> None:
    try:
        back = again(pools, format)
    except DataError as error:
        assert NAMES[format] in str(error)
        assert "\n" not in str(error)
    else:
        assert back == pools


def as_windows(path: Path) -> None:
    """The file as an editor there leaves it: with a byte order mark, and CRLF after each line."""
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
    path.write_bytes(b"\xef\xbb\xbf" + raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


WINDOWS = {"jsonl": anything, "csv": table(plain), "tsv": table(plain), "tevatron": judged, "squad": squad()}


@pytest.mark.parametrize("format", WINDOWS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_crlf_and_a_byte_order_mark_change_nothing(format: str, data: st.DataObject) -> None:
    pools = data.draw(WINDOWS[format])
    assert again(pools, format, as_windows) == pools


def test_a_megabyte_comes_back_from_every_format() -> None:
    long = "wort " * 200_000
    pool = Pool("q", "why?", (Candidate("d", long, 1),))
    for format in ("jsonl", "tsv", "csv", "parquet", "beir", "tevatron"):
        assert again([pool], format) == [pool]
    extra = {"title": "T", "paragraph": 0, "answers": [{"text": "w", "answer_start": 0}]}
    paragraph = Pool("q", "why?", (Candidate("T-0", long, 1),), extra)
    assert again([paragraph], "squad") == [paragraph]


def test_graded_labels_and_their_order_survive_tevatron() -> None:
    pool = Pool.of("q?", ["a", "b", "c", "d"], [0, 3, -1, 1])
    assert again([pool], "tevatron") == [pool]
