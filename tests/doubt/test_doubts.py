from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from demur.doubt import Observed, doubt, observe
from demur.doubt.features import FEATURES
from demur.errors import DataError, DemurError, UsageError
from demur.evaluation.selective.measures import AURC, AUROC, EAURC
from demur.reading.opening import reader as resolve_reader
from demur.reading.readers.network import NetworkReader
from demur.reading.readers.span_reader import SpanReader
from demur.types import Pool
from doubt.seen import log_softmax, made
from doubt.test_probes import pools
from laws import toys


def reader(**settings: object) -> SpanReader:
    return SpanReader(model=toys.answerer(), max_length=32, stride=8, **settings)  # type: ignore[arg-type]


def others_of(seen: Observed, count: int) -> list[Observed]:
    """What others say of the same windows."""
    found = []
    for seed in range(count):
        generator = np.random.default_rng(seed)
        logs = [log_softmax(generator.normal(size=(int(size), 2)) * 2) for size in seen.sizes]
        flat = np.concatenate(logs).astype(np.float32)
        found.append(dataclasses.replace(seen, starts=flat[:, 0], ends=flat[:, 1]))
    return found


def test_what_is_observed_is_what_the_reader_quotes() -> None:
    asked = pools()
    seen = observe(reader(), asked)
    readings = reader().read_all([(pool.question, pool.answers[0]) for pool in asked])
    for place, reading in enumerate(readings):
        assert seen.says[place] == (reading.span is not None)
        assert seen.null[place] == pytest.approx(reading.null_probability, abs=1e-6)
        if reading.quotes:
            assert seen.texts[place] == reading.quotes[0].span.text
            assert seen.probability[place] == pytest.approx(reading.confidence, rel=1e-4)
            assert seen.odds[place] == pytest.approx(reading.null_odds, abs=1e-4)
        else:
            assert (seen.texts[place], seen.first[place], seen.says[place]) == ("", 0, False)
    assert seen.window.max() > 0, "some windows are not the first"


def test_predictions_are_right_where_a_gold_is_matched() -> None:
    asked = pools()
    seen = observe(reader(threshold=1e6), asked)
    assert seen.says.tolist() == [True] * 6 + [False]
    named = dataclasses.replace(seen, texts=("the Ship!", "x", "baker", "May", "bread", "ship", ""))
    found = named.predictions(asked, named.probability)
    assert found.correct.tolist() == [True, False, True, True, False, False, False]
    assert found.outcomes() == {"AD+": 3, "AD-": 2, "AN": 0, "UD": 1, "UN": 1}
    with pytest.raises(UsageError, match="not the questions"):
        named.predictions(asked[::-1], named.probability)


def test_observations_are_kept_and_taken_apart(tmp_path: Path) -> None:
    seen, _ = made(9)
    seen.save(tmp_path / "seen.npz")
    again = Observed.load(tmp_path / "seen.npz")
    some, rest = again.take([5, 0]), seen.take(np.array([5, 0]))
    for name in ("ids", "texts"):
        assert getattr(again, name) == getattr(seen, name) and len(getattr(some, name)) == 2
    for name in ("starts", "pictures", "says", "bounds"):
        assert (getattr(again, name) == getattr(seen, name)).all()
        assert (getattr(some, name) == getattr(rest, name)).all()
    assert (some.starts[: some.bounds[1]] == seen.starts[seen.bounds[5] : seen.bounds[6]]).all()
    assert np.allclose(some.probability, seen.probability[[5, 0]])
    whole = (tmp_path / "seen.npz").read_bytes()
    for broken in (b"PK nothing", whole[:-100], whole[:300] + b"?" + whole[301:]):
        (tmp_path / "seen.npz").write_bytes(broken)
        with pytest.raises(DataError, match="holds no observation"):
            Observed.load(tmp_path / "seen.npz")


def test_all_share_one_prediction_and_so_one_oracle() -> None:
    seen, right = made(200)
    others = others_of(seen, 2)
    given = {each.name: np.copy(getattr(seen, each.name)) for each in dataclasses.fields(seen)}
    taught = [doubt("learned").fit(seen, right), doubt("learned(features=layers)").fit(seen, right)]
    wrongs, oracle = int((~right).sum()), AURC.of(right, ~right)
    best = [max(0, rank - (len(right) - wrongs)) / rank for rank in range(1, len(right) + 1)]
    assert oracle == pytest.approx(np.mean(best)), "all right answers first, then the wrong ones"
    areas = []
    for each in (doubt("proba"), doubt("averaged"), doubt("averaged(by=max)"), *taught):
        sure = each.confidence_of(seen, others)
        assert sure.shape == (200,) and np.isfinite(sure).all()
        areas.append(AURC.of(sure, ~right))
        assert areas[-1] > oracle - 1e-12 and areas[-1] - EAURC.of(sure, ~right) == pytest.approx(oracle)
    assert min(areas[:4]) > oracle + 0.01 and len(set(areas)) == len(areas), "they doubt differently"
    assert all((getattr(seen, name) == was).all() for name, was in given.items()), "and leave it as it is"


def test_averages_by_hand() -> None:
    seen, _ = made(50)
    others = others_of(seen, 2)
    members = [seen, *others]
    fixed, free = (doubt(f"averaged(by={by})").confidence_of(seen, others) for by in ("fixed", "max"))
    assert np.allclose(fixed, np.mean([each.probability_of(seen) for each in members], axis=0))
    for place in range(50):
        a, b = seen.bounds[place], seen.bounds[place + 1]
        starts = np.mean([np.exp(each.starts[a:b].astype(np.float64)) for each in members], axis=0)
        ends = np.mean([np.exp(each.ends[a:b].astype(np.float64)) for each in members], axis=0)
        spans = [(s, e) for s in range(1, b - a) for e in range(s, min(s + 4, b - a))]
        assert free[place] == pytest.approx(max(starts[s] * ends[e] for s, e in spans), rel=1e-5)
    assert (free != fixed).any()
    passes = doubt("averaged(own=false)").confidence_of(seen, others)
    assert np.allclose(passes, np.mean([each.probability_of(seen) for each in others], axis=0))


def test_one_reader_averaged_is_that_reader() -> None:
    asked = pools()
    seen = observe(reader(), asked)
    again = observe(reader(), asked, fixed=seen)
    assert np.allclose(doubt("averaged").confidence_of(seen, [again]), seen.probability, rtol=1e-4)
    assert np.allclose(
        doubt("averaged(by=max)").confidence_of(seen, [again])[:-1], seen.probability[:-1], rtol=1e-4
    )


def test_other_readers_speak_of_the_fixed_span() -> None:
    asked = pools()
    seen = observe(reader(), asked)
    moved = dataclasses.replace(seen, first=np.minimum(1, seen.first), last=np.minimum(2, seen.last))
    other = observe(reader(), asked, fixed=moved)
    assert (other.window == seen.window).all() and (other.first == moved.first).all()
    assert np.allclose(other.probability, seen.probability_of(moved), rtol=1e-4)
    assert not np.allclose(other.probability, seen.probability, rtol=1e-2)
    with pytest.raises(UsageError, match="other questions"):
        observe(reader(), asked[::-1], fixed=seen)
    with pytest.raises(UsageError, match="other windows"):
        observe(
            reader(), [dataclasses.replace(p, candidates=asked[-1].candidates) for p in asked], fixed=seen
        )


@pytest.mark.parametrize("kind", ["span-reader", "bidaf"])
def test_passes_with_dropout_differ_and_leave_the_reader_as_it_was(kind: str) -> None:
    asked = pools()
    mine = resolve_reader(kind, **{**toys.settings(kind), "max_length": 32, "stride": 8})
    assert isinstance(mine, NetworkReader)
    seen = observe(mine, asked)
    one, two, same = (observe(mine, asked, fixed=seen, dropout=seed) for seed in (0, 1, 0))
    assert (one.starts == same.starts).all()
    assert not np.allclose(one.starts, two.starts, atol=1e-4)
    assert not np.allclose(one.starts, seen.starts, atol=1e-4)
    assert (observe(mine, asked).starts == seen.starts).all() and not mine._network()[0].training
    mean = doubt("averaged(own=false)").confidence_of(seen, [one, two])
    assert np.allclose(mean, (one.probability_of(seen) + two.probability_of(seen)) / 2)


def test_learned_finds_what_tells_right_from_wrong() -> None:
    seen, right = made(600, seed=5)
    fresh, of_fresh = made(400, seed=6)
    hint = np.random.default_rng(0)
    seen, fresh = (
        dataclasses.replace(each, wording=np.where(good, 0.3, 0.7) + 0.1 * hint.normal(size=len(each)))
        for each, good in ((seen, right), (fresh, of_fresh))
    )
    taught = doubt("learned(features=wording)").fit(seen, right)
    assert AUROC.of(taught.confidence_of(fresh), ~of_fresh) > 0.95, "its slope goes down"
    assert ((taught.confidence_of(fresh) > 0) & (taught.confidence_of(fresh) < 1)).all()
    layers = doubt("learned(features=layers)").fit(seen, right)
    assert AUROC.of(layers.confidence_of(fresh), ~of_fresh) > 0.9
    again = doubt("learned(features=wording)").knowing(taught.learnt)
    assert np.allclose(again.confidence_of(fresh), taught.confidence_of(fresh), rtol=1e-6)
    constant = doubt("learned").fit(seen, np.ones(len(seen), np.bool_)).confidence_of(fresh)
    assert (constant > 0.5).all()


def test_every_feature_is_a_number() -> None:
    asked = pools()
    seen = observe(reader(), asked)
    for name, feature in FEATURES.items():
        if name != "layers":
            assert np.isfinite(feature(seen)).all() and len(feature(seen)) == len(asked), name


def test_what_is_wrong_is_one_clear_line() -> None:
    seen, right = made(10)
    for spec in ("averaged(by=mode)", "learned(features=luck)", "learned(features=' ')", "nothing"):
        with pytest.raises(DemurError):
            doubt(spec)
    with pytest.raises(UsageError, match="snapshots, seeds, or passes"):
        doubt("averaged").confidence_of(seen)
    with pytest.raises(UsageError, match="different questions or windows"):
        doubt("averaged").confidence_of(seen, [seen.take(np.arange(9))])
    with pytest.raises(UsageError, match="is not trained yet"):
        doubt("learned").confidence_of(seen)
    with pytest.raises(UsageError, match="answers none"):
        doubt("learned").fit(dataclasses.replace(seen, says=np.zeros(10, np.bool_)), right)
    with pytest.raises(UsageError, match="observe with probes"):
        doubt("learned(features=layers)").fit(
            dataclasses.replace(seen, pictures=seen.pictures[:, :, :0]), right
        )


def test_no_questions_are_observed_too() -> None:
    none: list[Pool] = []
    seen = observe(reader(), none)
    assert len(seen) == 0 and seen.bounds.tolist() == [0]
    assert doubt("proba").confidence_of(seen).shape == (0,)
