"""Whatever is said on the command line, a verb ends with 0, 1 or 2 and says why in one clear line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.calling import called
from fuzz.cases import cases
from fuzz.words import GOOD, lines
from fuzz.world import copied

PATIENT = 120  # seconds, for what imports large libraries


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """What verbs import is there before any is stopped: an import that was broken off cannot be made again."""
    for words in GOOD:
        with copied() as folder:
            called(words, folder, limit=PATIENT)


@pytest.mark.parametrize("words", GOOD, ids=" ".join)
def test_a_good_line_is_done(words: list[str]) -> None:
    with copied() as folder:
        ended = called(words, folder, b"drill?\n", PATIENT)
    ended.check()
    assert ended.code == 0 or ended.interrupted or "check" in words, ended


@cases(45)
@given(lines(), st.sampled_from([b"drill?\n", b"", b"\xff\n", b'{"id": "a"}\n', b"a\n" * 3000]))
def test_any_line_ends_well(words: list[str], stdin: bytes) -> None:
    with copied() as folder:
        called(words, folder, stdin).check()
