from __future__ import annotations

import numpy as np

import demur
from demur.embedders.encoders import encoder
from demur.training.encoders.cached_encoder import with_kept_vectors
from demur.types import Pool
from laws import toys

POOLS = [Pool.of("which ship?", ["the ship", "cape", ""], id="a"), Pool.of("cape?", ["cape", "may"], id="b")]


def test_scores_stay_and_vectors_are_computed_once(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    plain = demur.ranker("encoder", model=toys.bert())
    fused = demur.ranker("fusion", rankers=f'length; encoder(model="{toys.bert()}")')
    feedback = demur.ranker("feedback", first="bm25", features=f'encoder(model="{toys.bert()}")')
    expected = [ranker.score_pools(POOLS) for ranker in (plain, fused, feedback)]
    with_kept_vectors(plain).score_pools(POOLS)
    monkeypatch.setattr(encoder.Encoder, "_vectors", None)  # whoever computes now fails
    for ranker, before in zip((plain, fused, feedback), expected, strict=True):
        kept = with_kept_vectors(ranker)
        assert kept.spec == ranker.spec and kept.fingerprint == ranker.fingerprint
        for one, other in zip(kept.score_pools(POOLS), before, strict=True):
            assert np.allclose(one, other, rtol=0, atol=1e-5)


def test_others_stay_as_they_are() -> None:
    for spec in ("bm25", "length"):
        ranker = demur.ranker(spec)
        assert with_kept_vectors(ranker) is ranker
