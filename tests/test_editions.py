"""Which parts of demur a result depends on, by the specs that made it."""

from __future__ import annotations

from demur.editions import editions, named_in


def test_a_bare_fusion_hangs_on_the_rankers_that_it_takes_if_nothing_is_said() -> None:
    assert {"ranker fusion", "ranker bm25", "ranker encoder", "embedder encoder"} <= set(
        editions(named_in("fusion"))
    )
    said = set(editions(named_in('fusion(rankers="overlap; length")')))
    assert {"ranker overlap", "ranker length"} <= said and "ranker encoder" not in said


def test_only_mpnet_that_learns_quickly_has_a_raised_edition() -> None:
    def net(spec: str) -> int:
        return editions(named_in(spec, kinds=("trainer",))).get("net quick-mpnet", 0)

    for name in ("cross-encoder", "span-reader", "bi-encoder"):
        assert net(f"{name}(base=mpnet, quick=true)") == 2
        assert net(f"{name}(base=mpnet)") == net(f"{name}(quick=true)") == net(f"{name}(quick=false)") == 0
    assert net("bi-encoder(teacher=mpnet, quick=true)") == 0, "a teacher does not learn"
    assert net('self(by="cross-encoder(base=mpnet, quick=true)")') == 2
