from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from data.loaded import Write

WIKIQA = """QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel
Q1\twho made it?\tD1\tMaking\tD1-0\tIt was made by Ada .\t1
Q1\twho made it?\tD1\tMaking\tD1-1\tIt is "green" .\t0
Q2\twhere is it?\tD2\tPlaces\tD2-0\tNobody knows .\t0
Q3\twhen?\tD3\tTimes\tD3-0\tIn 1901 .\t1
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a little data of our own in WikiQA's format, packed and with CRLF like it."""
    folder = tmp_path / "data"
    (folder / "wikiqa").mkdir(parents=True)
    with gzip.open(folder / "wikiqa/WikiQA-train.tsv.gz", "wb") as file:
        file.write(WIKIQA.replace("\n", "\r\n").encode())
    (folder / "wikiqa/WikiQA-dev.tsv").write_text(WIKIQA.replace("Q", "P"), encoding="utf-8")
    monkeypatch.setenv("DEMUR_DATA", str(folder))
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, *lines: str) -> Path:
        path = tmp_path / name
        path.write_bytes("".join(f"{line}\n" for line in lines).encode())
        return path

    return write
