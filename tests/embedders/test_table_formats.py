"""Word vectors in files: read back as written, told by content; one clear line for what is broken."""

from __future__ import annotations

import gzip
import json
import logging
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from safetensors.numpy import save_file

from demur import DemurError
from demur.embedders.word_vectors.table_formats import ENDINGS, read_table, write_table
from demur.embedders.word_vectors.tables import Table

WORDS = ["the", "ship", "café", "हिन्दी", "🎉", ","]
VECTORS = np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32)
TABLE = Table(WORDS, VECTORS, np.arange(6, 0, -1), {"how": "by hand", "width": 5})
NAMES = ["a.safetensors", "a.txt", "a.vec", "a.txt.gz", "a.bin", "a.npz"]


def same(found: Table, wanted: Table) -> bool:
    return list(found.words) == list(wanted.words) and np.array_equal(found.vectors, wanted.vectors)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read_back_equal(name: str, tmp_path: Path) -> None:
    write_table(tmp_path / name, TABLE)
    assert same(read_table(tmp_path / name), TABLE)
    assert read_table(tmp_path / name).vectors.dtype == np.float32
    assert [path.name for path in tmp_path.iterdir()] == [name], "nothing is left lying about"


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1), min_size=1
    ),
    st.data(),
)
def test_round_trips_of_any_words_and_numbers(words: list[str], data: st.DataObject) -> None:
    import tempfile

    words = list(dict.fromkeys(words))
    finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
    vectors = data.draw(arrays.arrays(np.float32, (len(words), 3), elements=finite))
    name = data.draw(st.sampled_from(["a.safetensors", "a.txt", "a.bin", "a.npz"]))
    with tempfile.TemporaryDirectory() as folder:
        write_table(Path(folder) / name, Table(words, vectors))
        found = read_table(Path(folder) / name)
        assert list(found.words) == words
        assert found.vectors.tolist() == vectors.tolist()


def test_the_content_says_the_format_not_the_name(tmp_path: Path) -> None:
    for name in NAMES:
        write_table(tmp_path / name, TABLE)
        (tmp_path / "vectors").write_bytes((tmp_path / name).read_bytes())
        assert same(read_table(tmp_path / "vectors"), TABLE)


@pytest.mark.parametrize("name", ["a.txt", "a.bin"])
def test_gzip_is_unpacked(name: str, tmp_path: Path) -> None:
    write_table(tmp_path / name, TABLE)
    (tmp_path / "packed").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    assert same(read_table(tmp_path / "packed"), TABLE)


def test_counts_and_how_it_was_made_are_kept(tmp_path: Path) -> None:
    write_table(tmp_path / "a.safetensors", TABLE)
    found = read_table(tmp_path / "a.safetensors")
    assert found.counts is not None and found.counts.tolist() == [6, 5, 4, 3, 2, 1]
    assert found.made == TABLE.made
    assert found.fingerprint == TABLE.fingerprint
    write_table(tmp_path / "a.npz", TABLE)
    assert read_table(tmp_path / "a.npz").fingerprint == TABLE.fingerprint


def test_safetensors_are_read_as_they_are_used(tmp_path: Path) -> None:
    write_table(tmp_path / "a.safetensors", TABLE)
    vectors = read_table(tmp_path / "a.safetensors").vectors
    assert isinstance(vectors.base, np.memmap) and not vectors.flags.writeable


def test_half_width(tmp_path: Path) -> None:
    write_table(tmp_path / "a.safetensors", TABLE, half=True)
    assert read_table(tmp_path / "a.safetensors").vectors == pytest.approx(VECTORS, rel=1e-3, abs=1e-3)
    with pytest.raises(DemurError, match=r"only \.safetensors holds half-width"):
        write_table(tmp_path / "a.txt", TABLE, half=True)
    with pytest.raises(DemurError, match="too large for half width"):
        write_table(tmp_path / "a.safetensors", Table(["a"], np.full((1, 2), 1e9, np.float32)), half=True)


def test_glove_has_no_header_and_perhaps_words_with_spaces(tmp_path: Path) -> None:
    (tmp_path / "g").write_text("the 1 2.5\n. . 3 -4e-1\nship 5 6\n\n", encoding="utf-8")
    found = read_table(tmp_path / "g")
    assert found.words == ["the", ". .", "ship"]
    assert found.vectors.tolist() == np.array([[1, 2.5], [3, -0.4], [5, 6]], np.float32).tolist()


def test_windows_line_ends_tabs_and_bom(tmp_path: Path) -> None:
    (tmp_path / "g").write_bytes(b"\xef\xbb\xbf2 2\r\nthe\t1\t2 \r\nship 5 6\r\n")
    assert read_table(tmp_path / "g").words == ["the", "ship"]


def test_binary_with_and_without_line_feeds(tmp_path: Path) -> None:
    rows = [b"the " + VECTORS[0].tobytes(), b"ship " + VECTORS[1].tobytes()]
    for between in (b"", b"\n"):
        (tmp_path / "b").write_bytes(b"2 5\n" + between.join(rows) + between)
        assert same(read_table(tmp_path / "b"), Table(["the", "ship"], VECTORS[:2]))


@pytest.mark.parametrize("form", ["binary", "text"])
def test_bytes_that_are_no_utf8_are_replaced(form: str, tmp_path: Path) -> None:
    numbers = VECTORS[0].tobytes() if form == "binary" else b"1 2 3 4 5\n"
    (tmp_path / "b").write_bytes(b"1 5\ncaf\xe9 " + numbers)
    assert read_table(tmp_path / "b").words == ["caf\ufffd"]


def test_of_equal_words_the_first_is_kept_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "g").write_text("a 1 2\nb 3 4\na 5 6\nb 7 8\nc 9 9\n")
    with caplog.at_level(logging.WARNING):
        found = read_table(tmp_path / "g")
    assert found.words == ["a", "b", "c"]
    assert found.vectors.tolist() == [[1, 2], [3, 4], [9, 9]]
    assert "2 words come more than once, such as 'a'; the first is kept" in caplog.text


BINARY = b"2 5\nthe " + VECTORS[0].tobytes() + b"\nship " + VECTORS[1].tobytes()
BROKEN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "empty, packed": (gzip.compress(b""), "is empty"),
    "a header alone": (b"2 3\n", ":|says that it holds 2 words"),
    "no words": (b"0 3\n", ":1: says that it holds 0 words"),
    "too wide": (b"1 99999999\n", ":1: says that it holds 1 words and vectors 99,999,999 wide"),
    "too few numbers": (
        b"the 1 2 3\nship 1 2\n",
        ":2: the vector of 'ship' has 2 numbers, but others have 3",
    ),
    "too many numbers": (b"the 1 2 3\nship 1 2 3 4\n", ":2: the vector of 'ship' has 4 numbers"),
    "too few, by the header": (b"1 3\nthe 1 2\n", ":2: the vector of 'the' has 2 numbers, but others have 3"),
    "too many, by the header": (b"1 2\nthe 1 2 3\n", ":2: the vector of 'the' has 3 numbers"),
    "no number": (b"the 1 2 3\nship 1 two 3\n", ":2: 'two' is not a number"),
    "prose": (b"A ship sails.\nIt is old.\n", ":1: 'ship' is not a number"),
    "one word": (b"ship\n", ":1: 'ship' is not a word with its numbers"),
    "NaN": (b"the 1 2\nship 1 nan\n", ":2: the vector of 'ship' holds NaN"),
    "infinite": (b"2 2\nthe 1 2\nship 1 1e99\n", ":3: the vector of 'ship' holds NaN or an infinite number"),
    "fewer words than said": (b"3 2\nthe 1 2\nship 3 4\n", ":1: says that it holds 3 words, but has 2"),
    "more words than said": (b"1 2\nthe 1 2\nship 3 4\n", ":1: says that it holds 1 words, but has 2"),
    "binary, cut in the last vector": (BINARY[:-3], "says that it holds 2 words|is cut off in word 2"),
    "binary, cut, packed": (gzip.compress(BINARY[:-3]), "is cut off in word 2"),
    "binary, cut in a word": (gzip.compress(BINARY[:30]), "is cut off in word 2"),
    "binary, too long": (BINARY + b"\nmore " + bytes(20), "has more than the 2 words"),
    "binary, absurd": (b"999999999999 300\n" + bytes(99), "says that it holds 999,999,999,999 words"),
    "binary, absurd, packed": (gzip.compress(b"999999999999 300\n" + bytes(99)), "says that it holds"),
    "binary, NaN": (
        b"1 2\na " + struct.pack("<ff", 1, float("nan")),
        r"vector of 'a' \(number 1\) holds NaN",
    ),
    "binary, no spaces": (b"1 2\n" + b"x\0" * 9000, "longer than 4,096 bytes"),
    "gzip, cut": (gzip.compress(b"the 1 2\n" * 999)[:-9], "broken gzip"),
    "zip of nothing": (b"PK\x03\x04" + bytes(99), "broken npz"),
    "safetensors, broken": (struct.pack("<Q", 20) + b'{"a": 1}' + b" " * 12, "broken safetensors"),
    "safetensors, absurd": (struct.pack("<Q", 1 << 30) + b'{"a"', "broken safetensors"),
    "zeros": (bytes(1000), "is not a word with its numbers|not a number"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_one_clear_line(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(content)
    with pytest.raises(DemurError, match=message) as caught:
        read_table(tmp_path / "v")
    assert str(caught.value).startswith(str(tmp_path / "v"))
    assert "\n" not in str(caught.value) and "; " in str(caught.value)


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=200))
def test_no_bytes_do_worse_than_an_error(content: bytes) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        try:
            read_table(file.name)
        except DemurError as error:
            assert "\n" not in str(error)


def test_npz_without_its_names_or_with_wrong_shapes(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, words=np.array(WORDS), numbers=VECTORS)
    with pytest.raises(DemurError, match="has no arrays words and vectors, but words, numbers"):
        read_table(path)
    np.savez(path, words=np.array(WORDS[:2]), vectors=VECTORS)
    with pytest.raises(DemurError, match=r"2 words, but vectors of the shape \(6, 5\)"):
        read_table(path)
    np.savez(path, words=np.array(WORDS), vecs=VECTORS, counts=np.arange(2))
    with pytest.raises(DemurError, match="6 words, but counts of the shape"):
        read_table(path)
    np.savez(path, words=np.arange(6), vectors=VECTORS)
    with pytest.raises(DemurError, match="words must be a list of texts"):
        read_table(path)


def test_npz_with_pickles_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", words=np.array(WORDS, dtype=object), vectors=VECTORS, allow_pickle=True)
    with pytest.raises(DemurError, match=r"broken npz file .*allow_pickle"):
        read_table(tmp_path / "a.npz")


def test_npz_of_absurd_size_takes_no_memory(tmp_path: Path) -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 100000), }".ljust(117) + b"\n"
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:
        file.writestr("vectors.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header)
        file.writestr("words.npy", b"")
    with pytest.raises(DemurError, match=r"broken npz|larger than memory"):
        read_table(tmp_path / "a.npz")


def test_safetensors_that_were_changed_or_are_anothers(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    write_table(path, TABLE)
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DemurError, match=r"is not as it was written \(checksum\)"):
        read_table(path)
    save_file({"vectors": VECTORS}, path)
    with pytest.raises(DemurError, match="safetensors file, but not of word vectors as demur writes them"):
        read_table(path)


def test_how_it_was_made_is_json(tmp_path: Path) -> None:
    from safetensors import safe_open

    write_table(tmp_path / "a.safetensors", TABLE)
    with safe_open(tmp_path / "a.safetensors", framework="numpy") as file:
        facts = file.metadata()
    assert json.loads(facts["made"]) == TABLE.made and facts["format"] == "demur vectors 1"


@pytest.mark.parametrize("name", ["a", "a.csv", "a.bin.gz", "a.safetensors.gz"])
def test_a_name_that_says_no_format(name: str, tmp_path: Path) -> None:
    with pytest.raises(DemurError, match=f"let it end in {', '.join(ENDINGS)}, .txt.gz"):
        write_table(tmp_path / name, TABLE)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a.txt", "a.bin", "a.safetensors"])
def test_a_word_that_a_format_cannot_hold(name: str, tmp_path: Path) -> None:
    with pytest.raises(DemurError, match=r"word 'two\\nwords'"):
        write_table(tmp_path / name, Table(["two\nwords"], VECTORS[:1]))
    assert not list(tmp_path.iterdir()), "nothing half-written"


@pytest.mark.data
def test_the_vectors_at_hand() -> None:
    import os

    folder = Path(os.environ["DEMUR_DATA"]) / "vectors"
    google, glove = (
        read_table(folder / "google-news-8000x300.npz"),
        read_table(folder / "glove-6B-50d-8453.txt.gz"),
    )
    assert (len(google), google.width) == (8000, 300)
    assert (len(glove), glove.width) == (8453, 50)
    assert dict(google.nearest("king", 5)).keys() & {"queen", "prince", "kings"}
