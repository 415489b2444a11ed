from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import demur
from demur.doubt import doubt, observe
from demur.doubt.doubt_folder import TrainedDoubt, open_doubt, place_of, save, train_doubt
from demur.doubt.probing.probe_cnn import ProbeCNN
from demur.doubt.probing.probe_training import ProbeTrainer
from demur.doubt.qualifier import Reading
from demur.errors import DataError, UsageError
from demur.rankers.opening import save as save_reader
from demur.reading.opening import reader as resolve_reader
from demur.reading.readers.span_reader import SpanReader
from demur.risk import qualifier
from demur.types import Pool
from doubt.test_probes import pools
from laws import toys

RIGHT = np.array([True, True, False, False, True, False, False])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader with its doubt, as training leaves them."""
    path = tmp_path_factory.mktemp("kept") / "reader"
    save_reader(SpanReader(model=toys.answerer(), max_length=32, stride=8, threshold=1e6), path)
    reader = resolve_reader(path)
    probes = ProbeTrainer(epochs=1).train(reader, pools())
    seen = observe(reader, pools(), probes)
    save(TrainedDoubt(ProbeCNN(epochs=1).fit(seen, RIGHT), probes), reader)
    return path


def test_a_reader_carries_its_doubt(folder: Path) -> None:
    reader = resolve_reader(folder)
    kept = open_doubt(reader)
    assert place_of(reader) == folder / "doubt" and kept.probes is not None
    found = kept.doubt.confidence_of(observe(reader, pools(), kept.probes))
    again = open_doubt(resolve_reader(folder))
    assert kept.doubt.spec == again.doubt.spec == ProbeCNN(epochs=1).spec
    assert (again.doubt.confidence_of(observe(reader, pools(), again.probes)) == found).all()
    assert np.isfinite(found).all() and np.std(found) > 0


@pytest.mark.parametrize("spec", ["proba", "learned", "averaged"])
def test_any_doubt_can_be_kept(folder: Path, tmp_path: Path, spec: str) -> None:
    reader = resolve_reader(folder)
    seen = observe(reader, pools())
    fitted = doubt(spec).fit(seen, RIGHT)
    save(TrainedDoubt(fitted), reader, tmp_path / "doubt", {"data": "toys"})
    kept = open_doubt(reader, tmp_path / "doubt")
    assert (kept.doubt.confidence_of(seen, [seen]) == fitted.confidence_of(seen, [seen])).all()
    assert json.loads((tmp_path / "doubt" / "ranker.json").read_text())["made"]["data"] == "toys"


def test_a_doubt_is_taught_at_once(folder: Path, tmp_path: Path) -> None:
    reader = resolve_reader(folder)
    kept = train_doubt("learned(features='proba; layers')", reader, pools(), train=pools())
    save(kept, reader, tmp_path / "doubt")
    found = open_doubt(reader, tmp_path / "doubt").confidence(reader, pools())
    assert (found == kept.confidence(reader, pools())).all() and found.shape == (7,)
    proba = train_doubt("proba", reader, pools())
    assert np.allclose(proba.confidence(reader, pools()), observe(reader, pools()).probability)
    with pytest.raises(UsageError, match="questions to train them"):
        train_doubt("probe-cnn", reader, pools())


def test_a_doubt_of_another_reader_or_a_broken_one_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is the doubt of another reader"):
        open_doubt(SpanReader(model=toys.answerer(), max_length=48), folder / "doubt")
    with pytest.raises(UsageError, match="is not in a folder"):
        open_doubt(SpanReader(model=toys.answerer()))
    reader = resolve_reader(folder)
    save(TrainedDoubt(doubt("learned").fit(observe(reader, pools()), RIGHT)), reader, tmp_path / "doubt")
    file = tmp_path / "doubt" / "learnt.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(DataError, match="checksum"):
        open_doubt(reader, tmp_path / "doubt")
    with pytest.raises(UsageError, match="fit it before"):
        TrainedDoubt(ProbeCNN())


def test_it_qualifies_what_any_ranker_puts_first(folder: Path) -> None:
    asked = [
        Pool.of(
            "which ship sailed?", ["It rained.", "The ship sailed round the cape in May."], [0, 1], id="a"
        ),
        Pool.of("who baked?", ["The baker baked bread.", " "], [1, 0], id="b"),
        Pool.of("who?", [" "], [0], id="c"),
    ]
    scores = demur.ranker("overlap").score_pools(asked)
    reader = resolve_reader(folder)
    for by in ("proba", "kept"):
        found = Reading(reader=str(folder), by=by).confidence(asked, scores)
        assert np.isfinite(found).all()
        if by == "proba":
            read = reader.read_all([(asked[0].question, asked[0].answers[1])])[0]
            assert found[0] == pytest.approx(read.confidence, rel=1e-4) and found[2] == 0
    tied = Reading(reader=str(folder)).confidence(asked[:1], [np.zeros(2)])[0]
    both = [Reading(reader=str(folder)).confidence(asked[:1], [np.eye(2)[n]])[0] for n in (0, 1)]
    assert tied == pytest.approx(min(both), rel=1e-4)
    again = qualifier(Reading(reader=str(folder), by="kept").spec)
    assert (again.confidence(asked, scores) == found).all()
    with pytest.raises(UsageError, match="calibrate the gate again"):
        Reading(reader=str(folder), by="proba", of="0" * 16).confidence(asked, scores)
    with pytest.raises(UsageError, match="needs a reader"):
        Reading().confidence(asked, scores)
    with pytest.raises(UsageError, match="must be trained first"):
        Reading(reader=str(folder), by="probe-cnn")


def test_what_other_readers_say_is_averaged_in() -> None:
    asked = [Pool.of("which ship sailed?", ["The ship sailed round the cape in May."], [1], id="a")]
    scores = [np.ones(1)]
    other = toys.bidaf()
    own = Reading(reader=str(other)).confidence(asked, scores)
    same = Reading(reader=str(other), by="averaged", others=f"{other}; {other}")
    assert same.confidence(asked, scores) == pytest.approx(own, rel=1e-4)
    passes = Reading(reader=str(other), by="averaged(own=false)", passes=2)
    assert passes.confidence(asked, scores) != pytest.approx(own, rel=1e-4)
    again = qualifier(passes.spec)
    assert again.confidence(asked, scores) == pytest.approx(passes.confidence(asked, scores))
    with pytest.raises(UsageError, match="calibrate the gate again"):
        Reading(reader=str(other), by="averaged", others=str(other), of="0" * 16).confidence(asked, scores)
    for wrong in ({"by": "averaged"}, {"passes": 2}, {"others": "x"}, {"by": "averaged", "passes": -1}):
        with pytest.raises(UsageError, match="by=averaged goes with others"):
            Reading(reader=str(other), **wrong)


def test_using_a_doubt_needs_no_torch() -> None:
    script = """
import sys
for name in ("torch", "transformers", "sklearn"):
    sys.modules[name] = None
import numpy as np
from demur.doubt import doubt
from demur.doubt.probing.probes import drawn
from demur.doubt.doubt_folder import TrainedDoubt
from demur.doubt.probing.probe_cnn import forward
from doubt.seen import made
seen, right = made(20)
print(doubt("proba").confidence_of(seen).shape, doubt("learned").fit(seen, right).confidence_of(seen).shape)
print(doubt("averaged(by=max)").confidence_of(seen, [seen]).shape)
print(drawn([np.zeros((5, 2), np.float32)]).shape)
shapes = {"first.weight": (16, 2, 3, 3), "first.bias": (16,), "second.weight": (8, 16, 3, 3),
          "second.bias": (8,), "last.weight": (1, 8 * 3 * 10), "last.bias": (1,)}
knows = {n: np.zeros(s, np.float32) for n, s in shapes.items()}
print(doubt("probe-cnn").knowing(knows).confidence_of(seen).shape)
"""
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tests
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:4] == ["(20,) (20,)", "(20,)", "(5, 2, 1)", "(20,)"]
