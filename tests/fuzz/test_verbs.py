"""Whatever is said on the command line, a verb ends with 0, 1 or 2 and says why in one clear line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fuzz.calling import called
from fuzz.cases import cases
from fuzz.words import GOOD, lines
from fuzz.world import copied

PATIENT = 120  # seconds, for what imports large libraries
STDIN = [b"drill?\n", b"", b"\xff\n", b'{"id": "a"}\n', b"a\n" * 3000]


def test_any_line_ends_well() -> None:
    @cases(22)
    @given(lines(), st.sampled_from(STDIN))
    def tried(words: list[str], stdin: bytes) -> None:
        with copied() as folder:
            called(words, folder, stdin).check()

    codes = []
    for words in GOOD:  # first, so that nothing is stopped while it imports, which cannot be done again
        with copied() as folder:
            ended = called(words, folder, STDIN[0], PATIENT)
        ended.check()
        codes.append(ended.code)
    assert codes.count(0) > 35, "the good lines are not what they were"
    tried()
