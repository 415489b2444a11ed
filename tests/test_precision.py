"""In which precision torch computes; the race itself is set, so that no clock and no processor tells."""

from __future__ import annotations

import dataclasses
import inspect
import logging
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import demur
from demur import precision, registry
from demur.data import formats
from demur.embedders import embedder
from demur.embedders.caching import CachedEmbedder, cached_on_disk
from demur.embedders.encoders.encoder import Encoder
from demur.errors import DataError, UsageError
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder
from demur.reading.readers.span_reader import SpanReader
from demur.training import trainer
from demur.training.recipes.make_model import make
from demur.training.recipes.stages import Recipe, Stage
from demur.types import Pool
from laws import toys

BY_RACE = precision.ratio  # conftest.py puts a draw in its place
DRAW: Callable[[], float] = lambda: 1.0  # noqa: E731
CHOOSING = [
    (kind, name)
    for kind in ("trainer", "ranker", "reader", "embedder")
    for name in registry.OURS[kind]
    if "precision" in inspect.signature(registry.find(kind, name)).parameters
]
POOLS = [Pool.of(f"ship {n}?", ["the cape", "may", "sailed round"], [1, 0, 0], id=f"{n}") for n in range(4)]


@pytest.fixture(autouse=True)
def anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing was raced for or said before."""
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / "cache"))
    for each in (BY_RACE, precision.missing, precision._warn_if_slow):
        each.cache_clear()


def raced(monkeypatch: pytest.MonkeyPatch, found: float) -> None:
    monkeypatch.setattr(precision, "ratio", lambda: found)


@pytest.mark.parametrize("kind, name", CHOOSING)
def test_auto_is_the_default_and_others_are_refused_in_one_line(kind: str, name: str) -> None:
    built = registry.find(kind, name)
    needs = {"model": "minilm"} if kind != "trainer" else {}
    assert inspect.signature(built).parameters["precision"].default == "auto"
    for known in precision.CHOICES:
        assert built(**needs, precision=known).precision == known
    with pytest.raises(UsageError, match="precision='fp8' is not known; use precision=auto, bf16 or fp32"):
        built(**needs, precision="fp8")


def test_trainers_readers_and_encoders_choose() -> None:
    trainers = {n for kind, n in CHOOSING if kind == "trainer"}
    assert {"bidaf", "cross-encoder", "mini", "scan", "span-reader"} <= trainers
    assert ("embedder", "encoder") in CHOOSING and ("reader", "bidaf") in CHOOSING


@pytest.mark.parametrize("found, took", [(3.0, "bf16"), (1.5, "bf16"), (1.49, "fp32"), (0.1, "fp32")])
def test_auto_is_what_the_race_says(monkeypatch: pytest.MonkeyPatch, found: float, took: str) -> None:
    raced(monkeypatch, found)
    with precision.noted() as notes:
        assert precision.taken("auto", "cpu") == took
        assert precision.taken("fp32", "cpu", "learning") == "fp32"
    assert notes == {"reading": {took}, "learning": {"fp32"}}


def test_a_gpu_takes_half_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    for known, took in ((True, "bf16"), (False, "fp16")):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *a, known=known, **k: known)
        assert precision.taken("auto", "cuda") == took
    assert precision.taken("fp16", "cuda:1") == "fp16" and precision.taken("fp32", "cuda") == "fp32"
    with pytest.raises(UsageError, match="fp16 is for GPUs"):
        precision.taken("fp16", "cpu")


def test_the_race_is_kept_and_run_again_where_it_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "race", lambda: 2.345)
    assert BY_RACE() == pytest.approx(2.345, abs=0.006)
    BY_RACE.cache_clear()  # as in another process
    monkeypatch.setattr(precision, "race", lambda: 9.0)
    assert BY_RACE() < 3
    [file] = Path(os.environ["DEMUR_CACHE"]).rglob("precision/*.json")
    for broken in ("{", "{}", "[" * 100_000, '{"bf16 against fp32": NaN}', '{"bf16 against fp32": 1e400}'):
        file.write_text(broken)
        BY_RACE.cache_clear()
        assert BY_RACE() == 9.0, broken[:30]
    BY_RACE.cache_clear()
    monkeypatch.setattr(precision, "race", lambda: 0.2)
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "SSE41")  # other features are another processor
    assert BY_RACE() == 0.2


def test_without_a_cache_it_is_raced_for_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> Path:
        raise DataError("the cache may not be written", path=name, fix="another")

    monkeypatch.setattr("demur.cache.folder", none)
    monkeypatch.setattr(precision, "race", lambda: 4.0)
    assert BY_RACE() == 4.0


def test_the_race_moves_neither_threads_nor_random_numbers() -> None:
    before, drawn = torch.get_num_threads(), torch.get_rng_state()
    torch.set_num_threads(2)  # more than the race has
    try:
        assert precision.race() >= 0, "0 where bf16 is imitated"
        assert torch.get_num_threads() == 2 and torch.equal(torch.get_rng_state(), drawn)
    finally:
        torch.set_num_threads(before)


def test_bf16_by_name_is_obeyed_where_it_is_slow_and_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    raced(monkeypatch, 0.2)
    with caplog.at_level(logging.WARNING, "demur"):
        assert [precision.taken("bf16", "cpu") for _ in range(3)] == ["bf16"] * 3
    [said] = caplog.messages
    assert "bf16 by way of fp32, which takes longer than fp32 itself; precision=auto takes the" in said


def lacking() -> bool:
    """A computation for which torch has no kernel in half precision."""
    if torch.is_autocast_enabled("cpu"):
        raise RuntimeError("could not create a primitive descriptor")
    return True


def test_a_layer_without_kernels_is_computed_in_fp32_and_this_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "demur"):
        assert all(precision.computed(lacking, "bf16", "cpu") for _ in range(2))
    [said] = caplog.messages
    assert said == "torch cannot compute all of this network in bf16 on this machine; fp32 is taken"


def test_what_is_told_is_what_was_taken_in_the_end() -> None:
    with precision.noted() as told:
        assert precision.computed(lacking, precision.taken("bf16", "cpu"), "cpu")
    assert told == {"reading": {"fp32"}}


def test_errors_of_another_kind_stay_what_they_are() -> None:
    def compute() -> None:
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes do not match"):
        precision.computed(compute, "bf16", "cpu")


def test_auto_counts_as_fp32_so_that_gates_of_old_fit() -> None:
    every: list[Any] = [
        CrossEncoder(model=toys.classifier()),
        SpanReader(model=toys.answerer()),
        Encoder(toys.bert()),
        demur.ranker("encoder", model=toys.bert()),
    ]
    for made in every:
        of = {
            name: dataclasses.replace(made, precision=name).fingerprint for name in ("auto", "fp32", "bf16")
        }
        assert of["auto"] == of["fp32"] == made.fingerprint != of["bf16"]


def test_vectors_of_either_precision_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    auto = Encoder(toys.bert())
    exact = cached_on_disk(auto).embed(["the cape"])
    raced(monkeypatch, 3.0)
    half = cached_on_disk(auto)
    assert isinstance(half, CachedEmbedder) and half.fingerprint == auto.fingerprint
    assert (half.embed(["the cape"]) != exact).any()
    named = embedder("encoder", model=toys.bert(), precision="fp32")
    assert (cached_on_disk(named).embed(["the cape"]) == exact).all()


@pytest.mark.parametrize("named, reads", [("auto", "auto"), ("bf16", "fp32"), ("fp32", "fp32")])
def test_a_trainer_that_names_its_precision_makes_an_exact_ranker(named: str, reads: str) -> None:
    by = trainer("cross-encoder", base=toys.classifier(), max_length=24, tokens=200, precision=named)
    assert by.train(POOLS).precision == reads  # type: ignore[attr-defined]


@pytest.mark.parametrize("found, took", [(3.0, "bf16"), (1.0, "fp32")])
def test_record_and_card_say_what_was_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, found: float, took: str
) -> None:
    raced(monkeypatch, found)
    data = tmp_path / "pools.jsonl"
    formats.write_pools(data, POOLS)
    by = f'cross-encoder(base="{toys.classifier()}", max_length=24, tokens=200, epochs=2)'
    made = make(Recipe(by, [Stage(str(data))]), tmp_path / "out")
    assert [line["precision"] for line in made.stages[0].log] == [took, took]
    assert f'"precision": "{took}"' in (tmp_path / "out" / "log.jsonl").read_text("utf-8")
    assert f"seconds, in {took}." in (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "precision=auto" in made.ranker.spec and "precision=auto" in made.stages[0].trainer


OLD = """
import sys, logging
logging.basicConfig(format="%(message)s")
from training.readers.test_readers import POOLS
from demur import precision
from demur.training.readers.trainers import Bidaf
small = {"epochs": 1, "tokens": 120, "max_length": 32, "wide": 8, "hidden": 8, "filters": 8}
taught = Bidaf(**small, precision=sys.argv[1]).train(POOLS)
import dataclasses
half = dataclasses.replace(taught, precision=sys.argv[1]).holding(*taught.fresh())
assert len(half.score_pools(POOLS[:3])) == 3
"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="hides features of x86-64 alone")
def test_bidaf_learns_and_reads_where_torch_has_no_lstm_in_bf16(tmp_path: Path) -> None:
    hidden = {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
    paths = os.pathsep.join([str(Path(demur.__file__).parents[1]), str(Path(__file__).parent)])
    done = subprocess.run(
        [sys.executable, "-c", OLD, "bf16"],
        env={**os.environ, **hidden, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert done.stderr.count("torch cannot compute all of this network in bf16") == 1


class Fragile(torch.nn.Linear):
    """A layer that torch has in fp32 alone."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if torch.is_autocast_enabled("cpu"):
            raise RuntimeError("no kernel")
        return super().forward(x)


def learnt(net: torch.nn.Module, named: str, checkpoint: Path | None = None) -> list[dict[str, Any]]:
    from demur.training.loop.fitting import Schedule, fit

    xs = torch.randn(12, 3, generator=torch.Generator().manual_seed(1))
    told: list[dict[str, Any]] = []

    def loss_of(step: Any) -> tuple[torch.Tensor, int]:
        return (net(xs[list(step)]).float() ** 2).mean(), len(step)

    steps = [[n, n + 1] for n in range(0, 12, 2)]
    fit(net, steps, loss_of, Schedule(0.1, precision=named, minutes=0), checkpoint, told.append, ends=[3, 6])
    return told


def test_training_goes_on_in_fp32_where_a_kernel_is_missing(caplog: pytest.LogCaptureFixture) -> None:
    torch.manual_seed(0)
    fragile = Fragile(3, 1)
    exact = torch.nn.Linear(3, 1)
    exact.load_state_dict(fragile.state_dict())
    with caplog.at_level(logging.WARNING, "demur"):
        told = learnt(fragile, "bf16")
    learnt(exact, "fp32")
    assert torch.equal(fragile.weight, exact.weight)
    assert [line["precision"] for line in told if "epoch" in line] == ["fp32", "fp32"]
    assert len([said for said in caplog.messages if "cannot compute" in said]) == 1


def test_losses_of_fp16_are_scaled_and_the_scale_goes_on_after_a_stop(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from demur.training.loop import gradients
    from demur.training.loop.checkpoints import Standing

    monkeypatch.setattr(precision, "taken", lambda named, device, what="reading": named)
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 1)
    before = net.weight.clone()
    told = learnt(net, "fp16", tmp_path / "at.safetensors")
    assert [line["precision"] for line in told if "epoch" in line] == ["fp16", "fp16"]
    assert net.weight.isfinite().all() and not torch.equal(net.weight, before)
    at = Standing(scale=64.0, scaled=7)
    again = gradients.Backward("fp16", "cpu", at)._scaler.state_dict()
    assert (again["scale"], again["_growth_tracker"]) == (64.0, 7)
    from demur.training.loop.checkpoints import resumed

    optimiser = torch.optim.AdamW(net.parameters())
    optimiser.zero_grad()
    stood = resumed(tmp_path / "at.safetensors", net, None, optimiser)
    assert 0 < stood.scale <= 65536.0 and stood.step == 6
