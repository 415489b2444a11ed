"""Good files made bad: bytes cut, changed, doubled and put in; and other values in JSON, TOML and tensors."""

from __future__ import annotations

import copy
import gzip
import io
import json
import zipfile
from typing import Any

import numpy as np
import safetensors.numpy as safetensors
from hypothesis import strategies as st

PIECES = [
    *(
        b"\0",
        b"\xff",
        b"\xc3",
        b"\xef\xbb\xbf",
        b"\x1f\x8b",
        b"PK\3\4",
        b"%PDF-",
        b"\n",
        b"\r",
        b"\r\n\r\n",
        b"\t",
    ),
    *(
        b'"',
        b"'",
        b"\\",
        b"\\u",
        b"\\ud800",
        b",",
        b";",
        b"|",
        b"{",
        b"}",
        b"[",
        b"]",
        b"(",
        b")",
        b"<",
        b">",
        b"&#0;",
    ),
    *(
        b"null",
        b"NaN",
        b"1e999",
        b"-1",
        b"0",
        b"99999999999999999999",
        b"true",
        b'{"a": 1}',
        b"[[",
        b"=",
        b"#",
        b"```",
    ),
    *(
        b"<table>",
        b"</p>",
        b"<!--",
        b"<![CDATA[",
        b"- ",
        b"> ",
        b"|---|",
        b"\xe2\x80\xa8",
        b"\xf0\x9f\x98\x80",
        b" ",
    ),
    *(b"[" * 3000, b"<b>" * 500, b"a" * 5000, b"9" * 5000),
]
VALUES: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2**70,
        1.5,
        -0.0,
        1e308,
        float("nan"),
        float("inf"),
        "",
        "x",
        "1",
        "\n",
        "\ud800",
    ),
    *(
        [],
        [None],
        [[]],
        {},
        {"": 0},
        ["a", 1],
        "../x",
        "/dev/null",
        "bm25",
        "bm25(",
        "demur gate 99",
        "2020-13-45",
    ),
]


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with up to three edits."""
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(content)))
        end = min(len(content), place + draw(st.sampled_from([1, 1, 2, 5, 50, 10**9])))
        match draw(st.sampled_from(["cut", "put", "put", "instead", "double", "flip"])):
            case "cut":
                content = content[:place] + content[end:]
            case "put":
                content = content[:place] + draw(st.sampled_from(PIECES)) + content[place:]
            case "instead":
                content = content[:place] + draw(st.sampled_from(PIECES)) + content[end:]
            case "double":
                content = content[:end] + content[place:]
            case "flip" if place < len(content):
                flipped = content[place] ^ (1 << draw(st.integers(0, 7)))
                content = content[:place] + bytes([flipped]) + content[place + 1 :]
    return gzip.compress(content, mtime=0)[: draw(st.sampled_from([10**9, 30]))] if draw(_SELDOM) else content


def tensors(content: bytes) -> st.SearchStrategy[bytes]:
    """Tensors with another name, shape, kind or value, or damaged as bytes."""
    return _other_tensors(content) | damaged(content)


@st.composite
def _other_tensors(draw: st.DrawFn, content: bytes) -> bytes:
    held = dict(safetensors.load(content))
    name = draw(st.sampled_from(sorted(held)))
    one = held.pop(name)
    match draw(st.sampled_from(["less", "name", "shape", "kind", "nan", "empty", "large"])):
        case "name":
            held[f"{name}x"] = one
        case "shape":
            held[name] = np.ascontiguousarray(one[..., :-1]) if one.ndim else np.zeros((2, 3), one.dtype)
        case "kind":
            held[name] = one.astype(draw(st.sampled_from(["i8", "u1", "f8", "f2", "?"])))
        case "nan":
            held[name] = np.full_like(one, np.nan if one.dtype.kind == "f" else 0)
        case "empty":
            held[name] = one[:0] if one.ndim else one.reshape(1)
        case "large":
            held[name] = np.full_like(one, 1e38 if one.dtype.kind == "f" else 127)
    return bytes(safetensors.save(held))


@st.composite
def parts_of_zip(draw: st.DrawFn, content: bytes) -> bytes:
    """A packed file, such as of Word, with one of its parts damaged."""
    packed = zipfile.ZipFile(io.BytesIO(content))
    parts = {name: packed.read(name) for name in packed.namelist()}
    bad = draw(st.sampled_from(sorted(parts)))
    parts[bad] = draw(damaged(parts[bad]))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, part in parts.items():
            file.writestr(name, part)
    return draw(damaged(out.getvalue())) if draw(_SELDOM) else out.getvalue()


_SELDOM = st.integers(0, 15).map(lambda drawn: drawn == 15)


_other = st.sampled_from(VALUES).map(copy.deepcopy)


@st.composite
def other_values(draw: st.DrawFn, value: Any) -> Any:
    """The same value of JSON with up to two parts left out, renamed, or of another kind."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 2))):
        inner, steps = value, 0
        above: Any = None
        key: Any = None
        while isinstance(inner, dict | list) and inner and (steps == 0 or draw(st.integers(0, 3))):
            above, key = (
                inner,
                draw(st.sampled_from(list(inner) if isinstance(inner, dict) else range(len(inner)))),
            )
            inner, steps = above[key], steps + 1
        if above is None:
            return draw(_other)
        match draw(st.sampled_from(["value", "value", "less", "more"])):
            case "value":
                above[key] = draw(_other)
            case "less":
                del above[key]
            case "more" if isinstance(above, dict):
                above[draw(st.sampled_from(["", "more", "id", "text"]))] = draw(_other)
            case "more":
                above.append(draw(_other))
    return value


@st.composite
def other_json(draw: st.DrawFn, content: bytes) -> bytes:
    """JSON, or lines of it, with other values in it, or damaged as bytes."""
    if draw(st.integers(0, 3)) == 0:
        return draw(damaged(content))
    try:
        return json.dumps(draw(other_values(json.loads(content)))).encode()
    except ValueError:
        lines = content.splitlines(keepends=True)
        place = draw(st.integers(0, len(lines) - 1))
        lines[place] = json.dumps(draw(other_values(json.loads(lines[place])))).encode() + b"\n"
        return b"".join(lines)


@st.composite
def other_toml(draw: st.DrawFn, content: bytes) -> bytes:
    """TOML with another value behind a key, another key, or damaged as bytes."""
    lines = content.decode().splitlines()
    place = draw(st.sampled_from([number for number, line in enumerate(lines) if line]))
    key, sign, _ = lines[place].partition(" = ")
    match draw(st.sampled_from(["value", "value", "key", "less", "table", "bytes"])):
        case "value" if sign:
            lines[place] = f"{key} = {draw(st.sampled_from(TOML))}"
        case "key":
            lines.insert(place, f"{draw(st.sampled_from(KEYS))} = {draw(st.sampled_from(TOML))}")
        case "less":
            del lines[place]
        case "table":
            lines.insert(place, f"[{draw(st.sampled_from(KEYS))}]")
        case "bytes":
            return draw(damaged(content))
    return "\n".join(lines).encode()


TOML = [
    *(
        '"x"',
        '""',
        '"bm25("',
        '"siamese(epochs=x)"',
        '"no/where.jsonl"',
        "0",
        "-1",
        "1.5",
        "nan",
        "inf",
        "true",
        "[]",
    ),
    *(
        '["x"]',
        "[1]",
        "{}",
        "{ a = 1 }",
        "2020-01-01",
        "9999999999999999999",
        '"example/questions"',
        '"[{x}]"',
        "'\\n'",
    ),
]
KEYS = [
    *(
        "paper",
        "table",
        "row",
        "column",
        "measures",
        "seeds",
        "seed",
        "trainer",
        "stage",
        "scales.x",
        "scale",
        "search",
    ),
    *(
        "data",
        "dev",
        "settings",
        "questions",
        "model",
        "vectors",
        "kind",
        "baseline",
        "search.space",
        "name",
        "a.b",
    ),
]
