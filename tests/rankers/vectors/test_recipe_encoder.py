"""Recipes go on to mean the encoder in floats."""

from __future__ import annotations

import pytest

from demur.rankers.vectors.recipe_encoder import as_it_comes, in_floats
from demur.specs import parse

FLOATS = "encoder(model=minilm)"


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("encoder", FLOATS),
        ("encoder(precision=fp32)", "encoder(model=minilm, precision=fp32)"),
        ("encoder(model=packaged)", "encoder(model=packaged)"),
        ("cross-encoder(model=x)", "cross-encoder(model=x)"),
        ("fusion(rankers='mini; encoder')", f"fusion(rankers='mini; {FLOATS}')"),
        ("bm25", "bm25"),
        ("/models/encoder/kept", "/models/encoder/kept"),
    ],
)
def test_only_what_is_not_said_is_filled_in(spec: str, meant: str) -> None:
    assert in_floats(spec) == meant


def test_a_fusion_that_names_nobody() -> None:
    settings = parse(in_floats("fusion(how=rrf)")).settings
    assert settings["how"] == "rrf" and settings["weights"] == "1, 4"
    assert settings["rankers"] == f"bm25(stem=english); {FLOATS}"


def test_feedback_begins_from_the_same_fusion() -> None:
    """Its own default is a bare fusion, which no one sees in its spec."""
    first = parse(in_floats("feedback(k=5)")).settings["first"]
    assert first == in_floats("fusion")
    assert parse(in_floats("feedback(first=bm25)")).settings["first"] == "bm25"
    assert parse(in_floats("feedback(first=encoder)")).settings["first"] == FLOATS


def test_what_comes_with_demur_is_filled_in_alike() -> None:
    assert as_it_comes("encoder") == "encoder(model=packaged)"
    assert as_it_comes("fusion(rankers='mini; encoder')") == "fusion(rankers='mini; encoder(model=packaged)')"
    assert as_it_comes("encoder(model=minilm)") == FLOATS
