"""Nets that match words, and committees, exported: the same scores without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import demur
from demur.data import formats
from demur.errors import DataError, UsageError
from demur.export import match_graph
from demur.export.export import export
from demur.export.match_nets import needs_torch
from demur.rankers.ensembles.committee import Committee
from demur.rankers.match_nets.match_nets import Match, Trained
from demur.rankers.match_nets.onnx_match import OnnxMatch
from demur.rankers.match_nets.word_numbers import Context, Lexicon, Read
from demur.rankers.opening import ranker, save
from demur.training import trainer
from demur.types import Pool
from laws import toys

NETS = toys.MATCHING
ANSWERS = ["the ship sailed", "cape 🎉", "nothing but the cape in may", "", "unknown words", "may " * 90]
POOLS = [Pool.of("which ship?", ANSWERS, id="a"), Pool.of("", ANSWERS[::-1], id="b"), Pool("c", "?", ())]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("texts") / "mine.jsonl"
    formats.write_pools(
        path, [Pool.of("ship?", ANSWERS, id="1"), Pool.of("may the cape?", ANSWERS[:3], id="2")]
    )
    return str(path)


def near(one: demur.rankers.Ranker, other: demur.rankers.Ranker) -> bool:
    return all(
        np.allclose(ours, theirs, rtol=0, atol=1e-5)
        for ours, theirs in zip(one.score_pools(POOLS), other.score_pools(POOLS), strict=True)
    )


def without_torch(folder: Path) -> list[float]:
    """What the model in a folder says of the answers, in a process that has no torch."""
    script = f"""
import sys
for name in ("torch", "transformers", "onnx"):
    sys.modules[name] = None
import demur
print(demur.open({str(folder)!r}).score("which ship?", {ANSWERS!r}).tolist())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    scores: list[float] = json.loads(done.stdout)
    return scores


@pytest.mark.parametrize("name", NETS)
def test_scores_are_those_of_torch(name: str, tmp_path: Path, data: str) -> None:
    net = ranker(toys.match(name))
    made = export(net, tmp_path / "out", calibrate=data)
    assert (made.precision, made.ranker.name) == ("fp32", "onnx-match") and made.agreement.largest < 1e-4
    assert near(made.ranker, net) and np.ptp(net.score("which ship?", ANSWERS)) > 1e-4
    assert near(demur.ranker(str(tmp_path / "out"), threads=3), net)
    save(made.ranker, tmp_path / "again")
    assert demur.open(tmp_path / "again").fingerprint == made.ranker.fingerprint != net.fingerprint
    kept = json.loads((tmp_path / "out" / "ranker.json").read_text())
    assert kept["made"]["agreement"]["pairs"] == 9
    assert name in (tmp_path / "out" / "README.md").read_text()


def test_a_committee_of_exported_members_shares_their_words(tmp_path: Path, data: str) -> None:
    members = f"{toys.match('match-pyramid')}; {toys.match('multihop')}; {toys.classifier()}; bm25"
    voting = ranker("committee", rankers=members, how="zscore", weights="1, 2, 1, 0.5")
    made = export(voting, tmp_path / "out", "fp32", data)
    assert isinstance(made.ranker, Committee)
    assert [one.name for one in made.ranker.members] == ["onnx-match", "onnx-match", "onnx", "bm25"]
    ours, theirs = (each.prepare(POOLS).score_pools(POOLS) for each in (made.ranker, voting))
    assert all(np.allclose(a, b, atol=1e-3) for a, b in zip(ours, theirs, strict=True))
    files = [tmp_path / "out" / f"member-{number}" / "vectors.safetensors" for number in (1, 2)]
    assert files[0].stat().st_ino == files[1].stat().st_ino
    with pytest.raises(UsageError, match=r"the member .* needs torch"):
        reading = ranker("committee", rankers=f"bm25; {toys.answerer()}")
        export(reading, tmp_path / "no", "fp32", data)
    assert not (tmp_path / "no").exists()


def test_committees_and_fusions_within_a_committee_are_exported_too(tmp_path: Path, data: str) -> None:
    inner = ranker("committee", rankers=f"{toys.match('match-pyramid')}; {toys.match('multihop')}")
    save(inner, tmp_path / "inner")
    fused = ranker("fusion", rankers=f"{toys.match('deep-matching')}; bm25; {toys.classifier()}")
    voting = Committee.of([ranker(str(tmp_path / "inner")), fused, ranker("bm25")], "zscore", "uniform")
    made = export(voting, tmp_path / "out", "fp32", data).ranker
    ours, theirs = (each.prepare(POOLS).score_pools(POOLS) for each in (made, voting))
    assert all(np.allclose(a, b, atol=1e-3) for a, b in zip(ours, theirs, strict=True))
    assert np.allclose(without_torch(tmp_path / "out"), made.score("which ship?", ANSWERS), atol=1e-5)
    assert not list((tmp_path / "out").rglob("model.safetensors"))
    alone = export(fused, tmp_path / "fused", "fp32", data).ranker
    assert alone.name == "fusion" and near(alone.prepare(POOLS), fused.prepare(POOLS))


@pytest.mark.parametrize("inside", [False, True])
def test_what_needs_torch_anywhere_in_a_committee_is_refused(inside: bool, tmp_path: Path, data: str) -> None:
    small, words = toys.bert(), f'words(vectors="{toys.vectors()}")'
    for needs, name in (
        (f'encoder(model="{small}")', "encoder"),
        (f'alignment(model="{small}")', "encoder"),
        ("feedback", "cross-encoder"),
    ):
        said = {"first": toys.classifier(), "features": words} if needs == "feedback" else {}
        member = ranker(needs, **said)
        voting = Committee.of([ranker("bm25"), Committee.of([member]) if inside else member])
        with pytest.raises(UsageError, match=rf"the member .* needs torch, and {name} cannot be exported"):
            export(voting, tmp_path / "no", "fp32", data)
    assert not (tmp_path / "no").exists()


def test_a_small_net_needs_torch_if_its_features_do(tmp_path: Path, data: str) -> None:
    few = [Pool.of("ship?", ANSWERS[:3], [1, 0, 0], "1"), Pool.of("cape?", ANSWERS[:3], [0, 1, 0], "2")]
    for features, found in (
        (f'encoder(model="{toys.bert()}")', "encoder"),
        (f'words(vectors="{toys.vectors()}")', ""),
    ):
        net = trainer("siamese", features=features, epochs=1).train(few)
        save(net, tmp_path / features[:5])
        opened = ranker(str(tmp_path / features[:5]))
        assert [needs_torch(net), needs_torch(opened), needs_torch(opened, inside=True)] == [found] * 3


def test_bytes_are_refused_where_there_is_nothing_to_write_so(tmp_path: Path, data: str) -> None:
    voting = ranker("committee", rankers=f"{toys.match('match-pyramid')}; bm25")
    with pytest.raises(UsageError, match="committee is exported in fp32 alone"):
        export(voting, tmp_path / "out", "int8", data)


def test_exported_members_read_texts_once(tmp_path: Path, data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    members = f"{toys.match('match-pyramid')}; bm25; {toys.match('multihop')}"
    voting = ranker("committee", rankers=members)
    made = export(voting, tmp_path / "out", calibrate=data).ranker
    assert isinstance(made, Committee)
    times: list[int] = []
    read = Lexicon.read

    def counted(self: Lexicon, texts: Sequence[str]) -> Read:
        times.append(len(texts))
        return read(self, texts)

    monkeypatch.setattr(Lexicon, "read", counted)
    votes = made.prepare(POOLS).votes(POOLS)
    assert len(times) == 1
    for ours, member in zip(votes, made.members, strict=True):
        alone = member.prepare(POOLS).score_pools(POOLS)
        assert all(np.allclose(a, b, atol=1e-6) for a, b in zip(ours, alone, strict=True))


def test_it_runs_without_torch(tmp_path: Path, data: str) -> None:
    members = f"{toys.match('match-pyramid')}; {toys.match('deep-matching')}"
    voting = export(ranker("committee", rankers=members), tmp_path / "out", calibrate=data).ranker
    assert np.allclose(without_torch(tmp_path / "out"), voting.score("which ship?", ANSWERS), atol=1e-6)


def test_a_graph_that_is_off_is_refused(tmp_path: Path, data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    net = ranker(toys.match("match-pyramid"))
    assert isinstance(net, Match)
    other = net.fresh().network.net
    dict(other.named_parameters())["output.bias"].data += 1
    real = match_graph.write_graph
    monkeypatch.setattr(match_graph, "write_graph", lambda net, path: real(other, path))
    with pytest.raises(DataError, match=r"off by 1 so nothing was written|off by 1, so nothing was written"):
        export(net, tmp_path / "out", calibrate=data)
    assert list(tmp_path.iterdir()) == []


def test_mistakes_are_one_line(tmp_path: Path, data: str) -> None:
    net = ranker(toys.match("multihop"))
    assert isinstance(net, Match)
    with pytest.raises(UsageError, match="in fp32 alone"):
        export(net, tmp_path / "out", "int8", data)
    with pytest.raises(UsageError, match="holds the network itself"):
        export(net, toys.match("multihop"), calibrate=data)
    has = net.trained
    reading = type(net).of(Trained(has.network, Context(f'encoder(model="{toys.bert()}")')))
    with pytest.raises(UsageError, match="from an encoder, which needs torch itself"):
        export(reading, tmp_path / "out", calibrate=data)
    for folder in ("", str(tmp_path)):
        with pytest.raises((UsageError, DataError), match="demur export MODEL -o DIR"):
            OnnxMatch(folder=folder).score("?", ["a"])
    with pytest.raises(UsageError, match="threads=-1"):
        OnnxMatch(folder="x", threads=-1)
    made = export(net, tmp_path / "out", calibrate=data)
    (made.folder / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(DataError, match="checksum"):
        demur.open(made.folder)
    with pytest.raises(DataError, match="cannot be opened"):
        OnnxMatch(folder=str(made.folder)).score("?", ["a"])
