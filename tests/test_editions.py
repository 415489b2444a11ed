"""Which parts of demur a result depends on, by the specs that made it."""

from __future__ import annotations

from demur.editions import editions, named_in


def test_a_bare_fusion_hangs_on_the_rankers_that_it_takes_if_nothing_is_said() -> None:
    assert {"ranker fusion", "ranker bm25", "ranker encoder", "embedder encoder"} <= set(
        editions(named_in("fusion"))
    )
    said = set(editions(named_in('fusion(rankers="overlap; length")')))
    assert {"ranker overlap", "ranker length"} <= said and "ranker encoder" not in said
