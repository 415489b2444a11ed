from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import demur
from demur.errors import DataError, UsageError
from demur.export.export import export
from demur.export.mini import Alike
from demur.reading.confidence import ConfidenceModel, names
from demur.reading.one_pass import OnePassReader, ScoredReading
from demur.reading.readers.mini import Mini
from demur.types import Pool
from laws import toys

QUESTION = "which ship sailed round the cape?"
PASSAGES = [
    "the ship sailed. nothing",
    "",
    "cape 🎉 船",
    "may the ship " * 40,
    "[SEP] x",
    "the ship sailed. nothing",
]
HEAVY = ("torch", "transformers", "sentence_transformers", "onnx")


def torch_mini() -> OnePassReader:
    found = demur.reader(toys.mini(), device="cpu")
    assert isinstance(found, OnePassReader)
    return found


def small(precision: str = "fp32") -> Mini:
    found = demur.open(toys.small(precision))
    assert isinstance(found, Mini)
    return found


def near(one: ScoredReading, other: ScoredReading, by: float) -> bool:
    return (
        abs(one.score - other.score) < by
        and abs(one.reading.null_odds - other.reading.null_odds) < by
        and abs(one.confidence - other.confidence) < by
    )


def test_floats_equal_torch() -> None:
    for question in (QUESTION, "", "which ship " * 60):
        ours, theirs = small().look(question, PASSAGES), torch_mini().look(question, PASSAGES)
        for one, other in zip(ours, theirs, strict=True):
            assert near(one, other, 2e-3), (one, other)
            assert one.quote == other.quote and one.span == other.span
    assert len({look.score for look in ours}) > 2


def test_what_probes_say_equals_torch() -> None:
    pairs = [(QUESTION, text) for text in PASSAGES]
    for ours, theirs in zip(small().glances(pairs), torch_mini().glances(pairs), strict=True):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert one.places.tolist() == other.places.tolist() and one.fair.tolist() == other.fair.tolist()
            assert one.layers.shape == (1, 2, len(one.starts))
            assert np.allclose(one.layers, other.layers, atol=2e-3)
            assert np.allclose(one.starts, other.starts, atol=2e-3)
    assert np.allclose(small().signals(pairs), torch_mini().signals(pairs), atol=1e-2)


def test_bytes_are_near_and_smaller() -> None:
    texts = [f"{first} {second} the cape" for first in toys.WORDS for second in toys.WORDS]
    ours, theirs = small("int8").look(QUESTION, texts), torch_mini().look(QUESTION, texts)
    pairs = list(zip(ours, theirs, strict=True))
    assert np.corrcoef([a.score for a, _ in pairs], [b.score for _, b in pairs])[0, 1] > 0.95
    assert np.mean([a.quote == b.quote for a, b in pairs]) > 0.8
    sizes = [(Path(toys.small(each)) / "model.onnx").stat().st_size for each in ("int8", "fp32")]
    assert sizes[0] < 0.65 * sizes[1]  # of so small a net the graph itself is a third


@pytest.mark.parametrize("threads", [1, 3])
def test_company_moves_nothing(threads: int) -> None:
    mini = demur.reader(toys.small("int8"), threads=threads)
    assert isinstance(mini, Mini)
    texts = [*PASSAGES, *(f"ship {n} {'round ' * (n % 7)}" for n in range(40))]
    together, alone = mini.look(QUESTION, texts), [mini.look(QUESTION, [text])[0] for text in texts]
    assert all(near(one, other, 1e-4) for one, other in zip(together, alone, strict=True))
    assert np.allclose(mini.score(QUESTION, texts), [look.score for look in together], atol=mini.tolerance)


def test_pools_are_seen_in_one_go_and_quotes_stand_in_their_texts() -> None:
    pools = [Pool.of(QUESTION, PASSAGES), Pool("e", "?", ()), Pool.of("ship?", PASSAGES[:2])]
    found = small().look_pools(pools)
    assert [len(each) for each in found] == [6, 0, 2]
    for pool, looks in zip(pools, found, strict=True):
        for text, look in zip(pool.answers, looks, strict=True):
            assert 0 <= look.confidence <= 1
            assert look.quote is None or text[look.quote.start : look.quote.end] == look.quote.text
    assert found[0][1].quote is None and found[0][0].quote is not None


def test_no_torch_is_needed() -> None:
    code = f"""
    import sys
    for name in {HEAVY!r}:
        sys.modules[name] = None
    import demur
    mini = demur.open({toys.small()!r})
    print(len(mini.look("ship?", ["cape", "may 🎉"])), len(mini.rank("ship?", ["cape", "may"])))
    """
    script = textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2", "2"]


@pytest.mark.slow
def test_the_confidence_model_lies_in_the_folder_and_travels(tmp_path: Path) -> None:
    signals = names(1)
    ranges = np.column_stack([np.full(len(signals), -5.0), np.full(len(signals), 5.0), np.ones(len(signals))])
    mini = demur.reader(toys.mini())
    how = ConfidenceModel(tuple(signals), -1.0, ranges, {"pools": 3})
    taught = mini.with_confidence(how)  # type: ignore[attr-defined]
    taught.save(tmp_path / "taught")
    export(demur.open(tmp_path / "taught"), tmp_path / "small", "fp32")
    looks = [
        demur.reader(tmp_path / name).look(QUESTION, PASSAGES)  # type: ignore[attr-defined]
        for name in ("taught", "small")
    ]
    pairs = [(QUESTION, text) for text in PASSAGES]
    expected = how.of(taught.signals(pairs))
    for each in looks:
        assert np.allclose([look.confidence for look in each], expected, atol=1e-3)
    plain = [look.confidence for look in small().look(QUESTION, PASSAGES)]
    assert not np.allclose(plain, expected, atol=1e-2)
    assert demur.open(tmp_path / "small").fingerprint != small().fingerprint
    facts = json.loads((tmp_path / "small" / "sureness.json").read_text())
    facts["signals"].pop("margin")
    (tmp_path / "small" / "sureness.json").write_text(json.dumps(facts))
    with pytest.raises(DataError, match="another network's"):
        ConfidenceModel.load(tmp_path / "small", 1)


def test_the_folder_is_checked_saved_and_named(tmp_path: Path) -> None:
    small().save(tmp_path / "copy")
    again = demur.open(tmp_path / "copy")
    assert again.score(QUESTION, PASSAGES).tolist() == small().score(QUESTION, PASSAGES).tolist()
    assert again.fingerprint == small().fingerprint
    changed = shutil.copytree(toys.small(), tmp_path / "changed")
    (changed / "model.onnx").write_bytes((changed / "model.onnx").read_bytes()[:-9])
    with pytest.raises(DataError, match="checksum"):
        Mini(folder=str(changed)).score("a", ["b"])
    with pytest.raises(DataError, match="demur export"):
        Mini(folder=str(tmp_path)).score("a", ["b"])
    with pytest.raises(DataError, match="other outputs"):
        Mini(folder=toys.exported()).score("a", ["b"])
    for settings in ({"threads": -1}, {"max_length": 3}, {"stride": 0}):
        with pytest.raises(UsageError):
            Mini(folder=toys.small(), **settings)


def test_a_missing_packaged_model_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("demur.reading.readers.mini.PACKAGED", tmp_path)
    with pytest.raises(DataError, match="comes with demur is missing") as missing:
        demur.ranker("mini")
    assert "\n" not in str(missing.value)


def test_export_says_how_near_quotes_are(tmp_path: Path) -> None:
    made = export(torch_mini(), tmp_path / "out", "fp32")
    assert isinstance(made.agreement, Alike) and made.agreement.quotes > 0.95 < made.agreement.answered
    assert f"{made.agreement.quotes:.1%}" in (tmp_path / "out" / "README.md").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_a_packaged_one_can_be_unpacked_and_go_on_learning() -> None:
    from tools.unpack_mini import network

    before, _ = demur.reader(toys.mini()).fresh()  # type: ignore[attr-defined]
    after, _ = network(Path(toys.small("int8")), toys.classifier()).fresh()
    wanted, found = before.state_dict(), after.state_dict()
    assert wanted.keys() == found.keys()
    moved = [
        name for name, value in wanted.items() if "intermediate" not in name and "output.dense" not in name
    ]
    for name in moved:  # the middle's channels stand in another order, which changes nothing
        most = float(wanted[name].abs().max())
        assert np.allclose(wanted[name], found[name], atol=0.02 * most + 1e-6), name
    ours = network(Path(toys.small("int8")), toys.classifier()).look(QUESTION, PASSAGES)
    for one, other in zip(ours, torch_mini().look(QUESTION, PASSAGES), strict=True):
        assert abs(one.score - other.score) < 0.1


def test_the_score_of_no_answer_is_tuned_on_held_out_questions(tmp_path: Path) -> None:
    from demur.export.mini import tune_null

    folder = tmp_path / "mini"
    shutil.copytree(toys.small("fp32"), folder)
    said = small().read_all([(QUESTION, PASSAGES[0])])[0]
    gold = said.quotes[0].span.text
    with_answer = Pool.of(QUESTION, [PASSAGES[0]], [1], id="a")
    answers = {"answers": [{"text": gold, "answer_start": PASSAGES[0].index(gold)}]}
    pools = [
        Pool("a", QUESTION, with_answer.candidates, answers),
        Pool("b", "may", Pool.of("may", [PASSAGES[2]]).candidates, {"answers": []}),
    ]
    null = tune_null(folder, pools)
    tuned = demur.open(folder)
    assert isinstance(tuned, Mini)
    again = tuned.read_all([(QUESTION, PASSAGES[0])])[0]
    assert again.null_score == pytest.approx(said.null_score - null, abs=2e-3)
    assert again.quotes[0].score == pytest.approx(said.quotes[0].score, abs=1e-4)
    assert again.span is not None and again.span.text == gold
