"""The page about other libraries is made of what was kept, and of facts with sources."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from bench.peers.facts import facts, looked_up, names
from bench.peers.known import BY_NAME, DEMUR
from bench.peers.turns import DATA, OURS, RATIO
from tools import comparison, make_docs

from demur.errors import DataError


def kept(folder: Path, kind: str, peer: str, **told: Any) -> None:
    about = {"machine": "a desk", "commit": "abc", "load": [0.5, 2.0], "versions": {peer: "7.1"}}
    text = json.dumps({"kind": kind, "peer": peer, **about, **told})
    (folder / f"{kind}.{peer}.json").write_text(text, "utf-8")


def test_the_page_is_up_to_date() -> None:
    page = (make_docs.DOCS / "comparison.md").read_text("utf-8")
    assert page == make_docs.PAGES["comparison.md"](), "run make docs"


def test_without_results_nothing_is_claimed(tmp_path: Path) -> None:
    page = comparison.page(tmp_path)
    assert page.count(comparison.LATER) > 10 and "| txtai | not measured yet |" in page


def test_figures_come_from_results(tmp_path: Path) -> None:
    quality = {name: {who: {"MAP": 0.71234, "P@1": 0.5} for who in OURS["encode"]} for name in DATA["encode"]}
    kept(tmp_path, "encode", DEMUR, found={"quality": quality})
    theirs = {name: {"txtai": {"MAP": 0.61, "P@1": 0.4}} for name in DATA["encode"]}
    speed = {who: {RATIO: 2.345678} for who in OURS["encode"]}
    kept(tmp_path, "encode", "txtai", found={"quality": theirs, "speed": speed})
    kept(tmp_path, "asked", "txtai", found={who: {RATIO: 3.5} for who in OURS["encode"]})
    kept(tmp_path, "encode", "fastembed", failed="RuntimeError: no tea")
    kept(tmp_path, "size", "txtai", found={DEMUR: 400, "txtai": 1234})
    kept(tmp_path, "ties", "pyterrier", found={"data": "d", "MAP": {"first": {DEMUR: 0.4, "pyterrier": 1.0}}})
    cell = {"questions": 200, "population": "flat", "violations": 9, "limit": 8, "coverage": 0.25}
    cells = [{**cell, "rule": "gate", "violations": 8}, {**cell, "rule": "theirs"}]
    kept(tmp_path, "promise", "mapie", found={"risk": 0.1, "draws": 50, "cells": cells})
    lines = comparison.page(tmp_path).splitlines()
    assert "| demur, as it comes | 0.712, 0.500 | 0.712, 0.500 | 0.712, 0.500 |  |  |  |  |" in lines
    assert "| txtai | 0.610, 0.400 | 0.610, 0.400 | 0.610, 0.400 | 2.35 | 2.35 | 3.50 | 3.50 |" in lines
    assert "| fastembed | failed: RuntimeError: no tea |  |  |  |  |  |  |" in lines
    assert "| demur | 400 MB |  |  |  |  |" in lines and "| txtai | 1,234 MB | – | – | – | – |" in lines
    assert "| first | 0.400 | 1.000 |" in lines
    assert "| gate | 8; 25.0% |" in lines and "| theirs | **9**; 25.0% |" in lines
    assert any(line.startswith("<sub>a desk; commit abc; load") and "0.5 to 2;" in line for line in lines)
    assert any("txtai/)** 7.1" in line for line in lines)


def test_a_row_of_an_unknown_kind_is_an_error(tmp_path: Path) -> None:
    kept(tmp_path, "smell", "txtai", found={})
    with pytest.raises(DataError, match="smell of txtai is no row that is known"):
        comparison.page(tmp_path)


def test_a_name_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    known = dict.fromkeys(names("txtai"), True)
    kept(tmp_path, "names", "txtai", found={**known, "txtai.Embeddings": False})
    with pytest.raises(DataError, match=r"txtai has no txtai\.Embeddings"):
        comparison.page(tmp_path)
    kept(tmp_path, "names", "txtai", found={"txtai.RAG": True})
    with pytest.raises(DataError, match="was not looked up"):
        comparison.page(tmp_path)


def test_every_fact_has_a_source_and_every_library_its_words() -> None:
    told = facts()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", told.checked)
    known = [each.name for each in told.peer]
    assert set(BY_NAME) < set(known) and len(set(known)) == len(known)
    for each in told.peer:
        assert each.name == DEMUR or (each.theirs and each.ours), f"{each.name}: say when it is better first"
        assert each.name in BY_NAME or each.unmeasured or each.name == DEMUR
    for feature in told.feature:
        assert set(feature.by) <= set(known), feature.says
        assert all(feature.source(name)[1] for name in feature.by), feature.says
    assert all(looked_up(DEMUR).values()), looked_up(DEMUR)
    better = [feature.says for feature in told.feature if feature.source(DEMUR)[0] != "yes"]
    assert len(better) > 5, "what others do and demur does not is told, too"
