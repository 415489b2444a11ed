from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import demur
from demur.embedders import embedder
from demur.errors import DataError, UsageError
from demur.nets.small.base import SmallNet
from demur.nets.small.concat import Concat
from demur.nets.small.siamese import Siamese
from demur.rankers import opening
from demur.rankers.vectors import network
from demur.rankers.vectors.net_weights import NetWeights
from laws import toys
from training import made

KINDS: list[tuple[type[network.Network], type[SmallNet]]] = [
    (network.Siamese, Siamese),
    (network.Concat, Concat),
]
POOLS = [*made.pools(5), demur.Pool("none", "goat eats", ()), demur.Pool.of("", ["", "hay", "🎉", "hay"])]


def random_net(kind: type[SmallNet], width: int = 12) -> SmallNet:
    torch.manual_seed(5)
    net = kind(width)
    for weights in net.parameters():
        torch.nn.init.normal_(weights, std=0.4)
    net.eval()
    return net


def ranker_of(kind: type[network.Network], net: SmallNet, features: str | None = None) -> network.Network:
    weights = {name: value.numpy().copy() for name, value in net.state_dict().items()}
    spec = features or made.words()
    return kind.of(NetWeights(spec, weights, embedder(spec)))


@pytest.mark.parametrize(("kind", "net"), KINDS)
def test_numpy_computes_what_torch_does(kind: type[network.Network], net: type[SmallNet]) -> None:
    trained = random_net(net)
    ranker = ranker_of(kind, trained)
    makes = embedder(made.words())
    trained.double()
    for pool, scores in zip(POOLS, ranker.score_pools(POOLS), strict=True):
        q, a = (
            torch.from_numpy(makes.embed(each)).double()
            for each in ([pool.question] * len(pool), pool.answers)
        )
        with torch.no_grad():
            expected = trained(q, a).numpy() if len(pool) else np.zeros(0)
        assert np.allclose(scores, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("kind", "net"), KINDS)
def test_scores_hang_on_their_pair_alone(
    kind: type[network.Network], net: type[SmallNet], monkeypatch: pytest.MonkeyPatch
) -> None:
    ranker = ranker_of(kind, random_net(net))
    together = ranker.score_pools(POOLS)
    monkeypatch.setattr(network, "TOGETHER", 2)
    for pool, scores in zip(POOLS, together, strict=True):
        assert np.allclose(ranker.score_pools([pool])[0], scores, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("kind", "net"), KINDS)
def test_a_folder_holds_all_there_is(
    kind: type[network.Network], net: type[SmallNet], tmp_path: Path
) -> None:
    ranker = ranker_of(kind, random_net(net))
    opening.save(ranker, tmp_path / "model")
    (tmp_path / "model").rename(tmp_path / "moved")
    again = demur.ranker(str(tmp_path / "moved"))
    assert again.fingerprint == ranker.fingerprint
    assert again.spec == f"{ranker.name}(folder={tmp_path / 'moved'})"
    for one, other in zip(again.score_pools(POOLS), ranker.score_pools(POOLS), strict=True):
        assert one.tolist() == other.tolist()
    assert isinstance(again, network.Network)
    assert str(tmp_path / "moved") in again.learnt.features, "the vectors are those in the folder"


def test_an_encoder_of_ones_own_goes_into_the_folder(tmp_path: Path) -> None:
    features = f"encoder(model={toys.bert()})"
    ranker = ranker_of(network.Siamese, random_net(Siamese, 16), features)
    opening.save(ranker, tmp_path / "model")
    assert (tmp_path / "model" / "encoder" / "config.json").is_file()
    again = demur.ranker(str(tmp_path / "model"))
    assert again.fingerprint == ranker.fingerprint
    for one, other in zip(again.score_pools(POOLS), ranker.score_pools(POOLS), strict=True):
        assert np.allclose(one, other, rtol=0, atol=1e-5)


def test_other_weights_or_vectors_are_another_ranker() -> None:
    one, other = random_net(Siamese), random_net(Siamese)
    assert ranker_of(network.Siamese, one).fingerprint == ranker_of(network.Siamese, other).fingerprint
    with torch.no_grad():
        next(other.parameters())[0, 0] += 1
    assert ranker_of(network.Siamese, one).fingerprint != ranker_of(network.Siamese, other).fingerprint
    keeping = made.words().replace(")", ", stopwords=keep)")
    assert ranker_of(network.Siamese, one).fingerprint != ranker_of(network.Siamese, one, keeping).fingerprint


@pytest.mark.parametrize("name", ["siamese", "concat"])
def test_one_that_has_learnt_nothing_says_so(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} has learnt nothing yet; train one with demur train"):
        demur.ranker(name)


def test_what_lies_in_the_folder_is_checked(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"model.safetensors: no such file of weights; name the folder"):
        demur.ranker("siamese", folder=str(tmp_path))
    net = random_net(Siamese)
    ranker_of(network.Siamese, net).learnt.save(tmp_path)
    assert demur.ranker("siamese", folder=str(tmp_path)).spec
    with pytest.raises(DataError, match="holds the weights of another net; train or copy"):
        demur.ranker("concat", folder=str(tmp_path))
    with torch.no_grad():
        next(net.parameters())[0, 0] = float("nan")
    ranker_of(network.Siamese, net).learnt.save(tmp_path)
    with pytest.raises(DataError, match="weights that are not finite numbers"):
        demur.ranker("siamese", folder=str(tmp_path))
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"model.safetensors: cannot be read \("):
        demur.ranker("siamese", folder=str(tmp_path))


def test_features_of_another_width_are_refused() -> None:
    ranker = ranker_of(network.Siamese, random_net(Siamese, 8))
    with pytest.raises(DataError, match="makes vectors of 12 numbers; this siamese was trained on 8"):
        ranker.score_pools(POOLS)
