"""What models and vectors of a recipe are known by, wherever they lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from demur.experiments.models import cached_models
from demur.experiments.models.cache_keys import anywhere, depends
from demur.experiments.models.cached_models import Step
from demur.training import Trainer, trainer
from laws import toys

HASH = "0123456789abcdef"


@pytest.fixture(params=["cache", "mini/scan", "self"])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Caches in folders that are called as trainers are, too."""
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / request.param))
    return tmp_path / str(request.param)


def named(by: Trainer) -> tuple[str, str]:
    return anywhere(by.known_by), depends(by)


def test_the_place_of_the_cache_does_not_count(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = f"ensemble(by='match-pyramid(vectors=\"{{}}/vectors/{HASH}.safetensors\")', of=seeds)"
    here = named(trainer(spec.format(home)))
    monkeypatch.setenv("DEMUR_CACHE", "/elsewhere")
    assert named(trainer(spec.format("/elsewhere"))) == here
    assert HASH in here[0] and here[1] == "match-pyramid 1", "and the trainer of the members does"
    other = trainer(spec.format("/elsewhere").replace("0123", "4567"))
    assert named(other)[0] != here[0]


def test_files_of_others_count_by_what_is_in_them(home: Path, tmp_path: Path) -> None:
    beside = Path(f"{home}s") / "vectors.txt"
    beside.parent.mkdir(parents=True)
    own = home / "mine.txt"
    own.parent.mkdir(parents=True)
    for file in (beside, own):
        file.write_text("ape 1 0\nbee 0 1\n")
        by = trainer("match-pyramid", vectors=str(file))
        before = cached_models.key([Step("", "", "", by)])
        assert anywhere(by.known_by) == by.known_by and depends(by) == by.depends
        file.write_text("ape 1 0\nbee 1 1\n")
        assert cached_models.key([Step("", "", "", by)]) != before


def test_what_is_named_beside_a_model_counts_too(home: Path) -> None:
    model = toys.small()
    one, other = (
        trainer("mini", base=f"{home}/models/{HASH}", teacher=f"committee(rankers='{teacher}; bm25')")
        for teacher in (model, "length")
    )
    assert depends(one) and depends(one) != depends(other)
    assert depends(trainer("mini", base=f"{home}/models/{HASH}")) == ""
