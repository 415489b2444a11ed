from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from demur.doubt import observe
from demur.doubt.observing import Shown, shown
from demur.doubt.probing.probe_training import ProbeTrainer, _scales, batched
from demur.doubt.probing.probes import drawn
from demur.errors import UsageError
from demur.nets.readers.probe import Probe
from demur.reading.opening import reader as resolve_reader
from demur.reading.readers.span_reader import SpanReader
from demur.types import Pool
from laws import toys

WIDTHS = (4, 7)


def windows(count: int = 300, seed: int = 0) -> list[Shown]:
    """States of two layers; the second tells the answer by one number, the first by nothing."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        size = int(generator.integers(4, 12))
        states = [generator.normal(size=(size, width)).astype(np.float32) * 3 for width in WIDTHS]
        start = int(generator.integers(0, size))
        states[1][start, 2] += 5
        found.append(Shown(states, start, start))
    return found


def pools() -> list[Pool]:
    passage = "The ship sailed round the cape in May. Then the baker baked bread in the street."
    golds = ["ship", "cape", "baker", "May", "baked bread"]
    found = [_asked(gold, passage, [{"text": gold, "answer_start": passage.index(gold)}]) for gold in golds]
    return [*found, _asked("none", passage, []), _asked("empty", " ", [])]


def _asked(name: str, passage: str, answers: list[dict[str, object]]) -> Pool:
    candidates = Pool.of("", [passage], [int(bool(answers))]).candidates
    return Pool(name, f"which is the {name}?", candidates, {"answers": answers})


def losses_of(how: ProbeTrainer, shown_: list[Shown]) -> list[float]:
    """The loss of each layer's probe, once it is taught on these windows."""
    probes, _ = how.fit(lambda epoch: shown_, len(shown_))
    net = Probe([torch.ones(width) for width in WIDTHS])
    for vectors, weights in zip(net.vectors, probes.weights, strict=True):
        vectors.data = torch.from_numpy(weights)
    found: list[float] = net.losses(*batched(shown_)).tolist()
    return found


def test_any_start_ends_at_the_same_loss() -> None:
    shown_ = windows()
    losses = []
    for seed, spread in ((0, 0.0), (1, 0.5), (2, 2.0)):
        how = ProbeTrainer(epochs=40, batch=50, learning_rate=0.1, seed=seed, spread=spread)
        losses.append(losses_of(how, shown_))
    assert np.allclose(losses, losses[0], rtol=2e-3)
    blind = np.mean([2 * np.log(len(each.states[0])) for each in shown_])
    assert losses[0][0] > 0.95 * blind and losses[0][1] < 0.6 * blind, "the second layer alone tells"


def test_the_defaults_come_near_the_least_loss_from_where_they_start() -> None:
    """With as many windows as the tables have: most of what can be won is, and what is not is known."""
    shown_ = windows(4000)
    usual = losses_of(ProbeTrainer(), shown_)
    order = np.random.default_rng(1).permutation(len(shown_))
    turned = losses_of(ProbeTrainer(), [shown_[place] for place in order])
    near = losses_of(ProbeTrainer(spread=0.01, seed=1), shown_)
    assert np.allclose(turned, usual, rtol=0.02) and np.allclose(near, usual, rtol=0.01)
    blind, told = losses_of(ProbeTrainer(epochs=10, batch=100, learning_rate=0.1), shown_)
    assert usual[0] == pytest.approx(blind, rel=0.002)
    won = (blind - usual[1]) / (blind - told)
    assert 0.8 < won < 1, f"{won:.2f} of what the second layer tells is learnt"
    early = losses_of(ProbeTrainer(epochs=1), shown_)
    assert (blind - early[1]) / (blind - told) < won - 0.05, "a test at these settings can fail"


def test_the_loss_is_of_where_an_answer_starts_and_of_where_it_ends() -> None:
    """By hand, where the two differ, as they do not above."""
    generator = np.random.default_rng(0)
    states = [generator.normal(size=(5, width)).astype(np.float32) for width in WIDTHS]
    short = Shown([each[:3] for each in states], 0, 2)
    net = Probe([torch.full((width,), 2.0) for width in WIDTHS], spread=0.7)
    found = net.losses(*batched([Shown(states, 1, 4), short]))
    known = np.zeros(2)
    for layer, vectors in enumerate(net.vectors):
        for states_, places in ((states[layer], (1, 4)), (states[layer][:3], (0, 2))):
            scores = states_ / 2 @ vectors.detach().numpy()
            for kind, place in enumerate(places):
                shares = np.exp(scores[:, kind]) / np.exp(scores[:, kind]).sum()
                known[layer] -= np.log(shares[place]) / 2  # the mean of two windows
    assert found.tolist() == pytest.approx(known.tolist(), rel=1e-5)


def test_numbers_that_are_the_same_everywhere_are_left_as_they_are() -> None:
    states = [np.full((4, 2), 3.0, np.float32), np.arange(8, dtype=np.float32).reshape(4, 2) * 10]
    found = _scales([Shown(states, 0, 0)])
    assert found[0].tolist() == [1.0, 1.0]
    assert found[1].tolist() == pytest.approx([10 * 5**0.5, 10 * 5**0.5])


def test_a_picture_of_large_scores_is_their_softmax_over_positions() -> None:
    scores = np.array([[300.0, -300.0], [301.0, 0.0], [299.0, 300.0]], np.float32)
    known = np.exp(scores - scores.max(0)) / np.exp(scores - scores.max(0)).sum(0)
    assert np.allclose(drawn([scores, -scores])[:, :, 0], known, atol=1e-6)


def test_lbfgs_finds_nothing_lower() -> None:
    """The loss is convex, so what another way finds is its least."""
    shown_ = windows(100)
    layers, there, start, end = batched(shown_)
    net = Probe([torch.ones(width) for width in WIDTHS], spread=0.3)
    optimiser = torch.optim.LBFGS(net.parameters(), max_iter=300, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        loss = net.losses(layers, there, start, end).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimiser.step(closure)  # type: ignore[no-untyped-call]
    least = float(net.losses(layers, there, start, end).sum().detach())
    _, last = ProbeTrainer(epochs=80, batch=100, learning_rate=0.1).fit(lambda epoch: shown_, 100)
    assert sum(last) == pytest.approx(least, rel=1e-3) and sum(last) >= least - 1e-4


def test_a_picture_is_what_the_probes_learnt_from() -> None:
    shown_ = windows(5)
    net = Probe([torch.full((width,), 2.0) for width in WIDTHS], spread=0.2)
    probes = [each.numpy() for each in net.weights()]
    layers, there, _, _ = batched(shown_)
    of_torch = net(layers, there).exp().detach().numpy()
    for row, each in enumerate(shown_):
        picture = drawn([state @ weights for state, weights in zip(each.states, probes, strict=True)])
        assert picture.shape == (len(each.states[0]), 2, 2)
        assert np.allclose(picture.sum(axis=0), 1, atol=1e-5)
        same = of_torch[row, :, : len(picture)].transpose(1, 2, 0)
        assert np.allclose(picture, same, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["span-reader", "bidaf"])
def test_probes_of_a_reader_leave_it_as_it_was(kind: str) -> None:
    reader = resolve_reader(kind, **{**toys.settings(kind), "max_length": 32, "stride": 8})
    pairs = [(pool.question, pool.answers[0]) for pool in pools()]
    before, weights = reader.read_all(pairs), reader.fingerprint
    views = [(view.starts, view.ends) for view in reader.views(pairs)]
    probes = ProbeTrainer(epochs=2).train(reader, pools())
    seen = observe(reader, pools(), probes)
    assert reader.read_all(pairs) == before and reader.fingerprint == weights
    again = [(view.starts, view.ends) for view in reader.views(pairs)]
    assert all((a == c).all() and (b == d).all() for (a, b), (c, d) in zip(views, again, strict=True))
    assert seen.pictures.shape == (seen.bounds[-1], 2, len(probes.weights)) and len(probes.weights) >= 2
    assert np.isfinite(seen.pictures).all()
    without = observe(reader, pools())
    assert np.allclose(without.starts, seen.starts, atol=1e-4) and (without.first == seen.first).all()


@pytest.mark.parametrize("kind", ["span-reader", "bidaf"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_states_may_be_multiplied_inside_the_reader(kind: str, precision: str) -> None:
    windows: dict[str, Any] = {"max_length": 32, "stride": 8, "precision": precision}
    reader = resolve_reader(kind, **{**toys.settings(kind), **windows})
    pairs = [(pool.question, pool.answers[0]) for pool in pools()] + [("", "")]
    whole = {(view.pair, view.number): view for view in reader.views(pairs, states=True)}
    draws = np.random.default_rng(0)
    states = next(iter(whole.values())).states
    weights = [draws.normal(size=(each.shape[1], 2)).astype(np.float32) for each in states]
    for view in reader.views(pairs, through=weights):
        wide = whole.pop((view.pair, view.number)).states
        close = 1e-4 if precision == "fp32" else 0.2  # batches of other sizes are rounded otherwise
        assert all(
            np.allclose(few, many @ each, atol=close)
            for few, many, each in zip(view.states, wide, weights, strict=True)
        )
    assert not whole
    with pytest.raises(UsageError, match="these probes are of another reader: its layers have"):
        list(reader.views(pairs, through=weights[1:]))
    with pytest.raises(UsageError, match="has probes of its own"):
        list(resolve_reader("mini").views(pairs, through=weights))


def test_the_second_best_span_is_that_of_trying_all() -> None:
    reader = SpanReader(model=toys.answerer(), max_length=32, stride=8)
    asked = pools()
    expected = np.zeros(len(asked))
    found: list[list[tuple[float, float]]] = [[] for _ in asked]
    for view in reader.views([(pool.question, pool.answers[0]) for pool in asked]):
        scale = np.log(np.exp(view.starts).sum()) + np.log(np.exp(view.ends).sum())
        for a in range(1, len(view.starts)):
            for b in range(a, min(a + reader.longest, len(view.starts))):
                if view.fair[a]:
                    score = float(view.starts[a] + view.ends[b])
                    found[view.pair].append((score, score - scale))
    for place, each in enumerate(found):
        if len(each) > 1:
            expected[place] = np.exp(sorted(each, reverse=True)[1][1])
    assert observe(reader, asked).second == pytest.approx(expected, rel=1e-5)
    assert sorted(expected > 0) == [False] + [True] * 6


def test_golds_are_found_in_the_windows_that_show_them_whole() -> None:
    reader = SpanReader(model=toys.answerer(), max_length=32, stride=8)
    asked = pools()
    for view, each in zip(
        reader.views([(pool.question, pool.answers[0]) for pool in asked], states=True),
        shown(reader, asked),
        strict=True,
    ):
        pool = asked[view.pair]
        answers = pool.extra["answers"]
        assert isinstance(answers, list)
        if each.start:
            a, b = view.places[each.start, 0], view.places[each.end, 1]
            assert pool.answers[0][a:b] == answers[0]["text"]
        else:
            whole = [
                view.places[1, 0] <= gold["answer_start"]
                and gold["answer_start"] + len(gold["text"]) <= view.places[-1, 1]
                for gold in answers
            ]
            assert not any(whole) or len(view.places) == 1


def test_nothing_to_learn_from_is_one_clear_line() -> None:
    def none(epoch: int) -> Iterator[Shown]:
        yield from ()

    with pytest.raises(UsageError, match="nothing to train probes on"):
        ProbeTrainer().fit(none, 0)
