from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from demur.doubt import doubt
from demur.doubt.observed import Observed
from demur.doubt.probing.cnn_training import scores
from demur.doubt.probing.probe_cnn import FIRST, SECOND, ProbeCNN, forward
from demur.errors import UsageError
from demur.evaluation.selective.measures import AURC, AUROC
from demur.nets.readers import probe_cnn as nets
from demur.types import IntArray
from doubt.seen import made


def network(layers: int = 3, top: int = 10) -> nets.ProbeCNN:
    torch.manual_seed(0)
    return nets.ProbeCNN(layers, FIRST, SECOND, top)


def weights(net: torch.nn.Module) -> dict[str, np.ndarray]:
    return {name: each.detach().numpy() for name, each in net.state_dict().items()}


def turned(seen: Observed, generator: np.random.Generator) -> Observed:
    """The positions of each window in another order."""
    order: list[IntArray] = []
    for a, b in zip(seen.bounds[:-1], seen.bounds[1:], strict=True):
        order.append(a + generator.permutation(b - a))
    return dataclasses.replace(seen, pictures=seen.pictures[np.concatenate(order)])


@pytest.mark.parametrize("settings", ["", "order=sorted", "scale=log", "layers=last"])
def test_numpy_says_what_torch_says(settings: str) -> None:
    seen, _ = made(40)
    how = doubt(f"probe-cnn({settings})")
    assert isinstance(how, ProbeCNN)
    net = network(how.height(seen))
    taught = how.knowing(weights(net))
    assert np.allclose(taught.confidence_of(seen), scores(net, how, seen), rtol=0, atol=1e-5)
    assert np.std(taught.confidence_of(seen)) > 1e-4


def test_padding_changes_nothing() -> None:
    seen, _ = made(12)
    how = ProbeCNN()
    net = network()
    images, there = how.images(seen, np.arange(12))
    longer = np.pad(images, ((0, 0), (0, 0), (0, 9), (0, 0))), np.pad(there, ((0, 0), (0, 9)))
    with torch.inference_mode():
        short, long = (net(*map(torch.from_numpy, each)) for each in ((images, there), longer))
    assert torch.allclose(short, long, atol=1e-6)
    numbers = [forward(weights(net), *each, 10) for each in ((images, there), longer)]
    assert np.allclose(numbers[0], numbers[1], rtol=0, atol=1e-6)
    alone = [how.knowing(weights(net)).confidence_of(seen.take([place]))[0] for place in range(12)]
    assert np.allclose(alone, numbers[0], rtol=0, atol=1e-6)
    junk = (
        longer[0] + 5 * ~longer[1][:, None, :, None]
    )  # what is masked is looked at by the first convolution
    assert not np.allclose(forward(weights(net), junk.astype(np.float32), longer[1], 10), numbers[0])


def test_order_counts_as_read_and_not_when_sorted() -> None:
    seen, _ = made(30)
    other = turned(seen, np.random.default_rng(1))
    net = network()
    sorted_, as_read = (ProbeCNN(order=order).knowing(weights(net)) for order in ("sorted", "as-read"))
    assert np.allclose(sorted_.confidence_of(seen), sorted_.confidence_of(other), rtol=0, atol=1e-6)
    assert not np.allclose(as_read.confidence_of(seen), as_read.confidence_of(other), rtol=0, atol=1e-3)


@pytest.mark.parametrize("kind", ["pairwise", "hinge", "bce"])
def test_gradients_flow_to_every_weight(kind: str) -> None:
    seen, right = made(30)
    net = network()
    images, there = ProbeCNN().images(seen, np.arange(30))
    logits = net(torch.from_numpy(images), torch.from_numpy(there))
    nets.loss(logits, torch.from_numpy(right), kind).backward()  # type: ignore[no-untyped-call]
    for name, each in net.named_parameters():
        if name != "last.bias" or kind == "bce":  # pairs do not see a constant
            assert each.grad is not None and each.grad.abs().max() > 0, name


def test_losses_are_what_they_say() -> None:
    logits, right = torch.tensor([2.0, 0.0, -1.0]), torch.tensor([True, False, False])
    pairs = np.array([2.0, 3.0])
    assert float(nets.loss(logits, right, "pairwise")) == pytest.approx(np.log1p(np.exp(-pairs)).mean())
    assert float(nets.loss(logits, right, "hinge")) == 0
    near = torch.tensor([0.25, 0.0, -3.0])
    assert float(nets.loss(near, right, "hinge")) == pytest.approx(0.75 / 2), "the margin is 1"
    ones = np.log1p(np.exp(-np.array([2.0, 0.0, 1.0])))
    assert float(nets.loss(logits, right, "bce")) == pytest.approx(ones.mean(), rel=1e-5)


@pytest.mark.parametrize("settings", ["", "order=sorted, loss=hinge", "scale=log, loss=bce", "top=3"])
def test_what_can_be_told_apart_is(settings: str) -> None:
    seen, right = made(500, seed=3)
    fresh, of_fresh = made(300, seed=4)
    how = doubt(f"probe-cnn({settings}{', ' * bool(settings)}learning_rate=0.003, batch=32)")
    taught = how.fit(seen, right)
    assert how.needs_fitting and not taught.needs_fitting
    assert AUROC.of(taught.confidence_of(fresh), ~of_fresh) > 0.98
    assert AURC.of(taught.confidence_of(fresh), ~of_fresh) < AURC.of(fresh.probability, ~of_fresh)


def test_the_same_seed_teaches_the_same_and_leaves_torch_alone() -> None:
    seen, right = made(60)
    torch.manual_seed(5)
    before = torch.rand(1)
    torch.manual_seed(5)
    one, other = (ProbeCNN(epochs=2).fit(seen, right) for _ in range(2))
    assert torch.rand(1) == before
    assert (one.confidence_of(seen) == other.confidence_of(seen)).all()
    assert not np.allclose(
        one.confidence_of(seen), ProbeCNN(epochs=2, seed=1).fit(seen, right).confidence_of(seen)
    )


def test_questions_without_an_answer_teach_nothing() -> None:
    seen, right = made(80)
    lied = dataclasses.replace(seen, pictures=seen.pictures.copy())
    for place in np.flatnonzero(~seen.says):
        lied.pictures[seen.bounds[place] : seen.bounds[place + 1]] = 1
    same = [ProbeCNN(epochs=2).fit(each, right).learnt for each in (seen, lied)]
    assert all((same[0][name] == same[1][name]).all() for name in same[0])


def test_what_is_wrong_is_one_clear_line() -> None:
    seen, right = made(20)
    with pytest.raises(UsageError, match="is not trained yet"):
        ProbeCNN().confidence_of(seen)
    with pytest.raises(UsageError, match="two of each"):
        ProbeCNN().fit(seen, np.ones(20, np.bool_))
    with pytest.raises(UsageError, match="write order=as-read or order=sorted"):
        doubt("probe-cnn(order=backwards)")
    with pytest.raises(UsageError, match="observe with probes"):
        ProbeCNN().fit(dataclasses.replace(seen, pictures=seen.pictures[:, :, :0]), right)
    with pytest.raises(UsageError, match="other layers"):
        ProbeCNN().knowing(weights(network(4))).confidence_of(seen)
