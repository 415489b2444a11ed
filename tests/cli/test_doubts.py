"""A reader's doubt from the command line: taught, kept in the reader's folder, and gated by."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from demur.cli.main import app
from demur.data import formats, pools
from demur.doubt.base import Averaged
from demur.doubt.doubt_folder import open_doubt
from demur.doubt.qualifier import Reading
from demur.doubt.training import DoubtTraining, quoted
from demur.errors import DemurError, UsageError
from demur.rankers.opening import save
from demur.reading import reader as resolve_reader
from demur.reading.readers.span_reader import SpanReader
from demur.risk import Gate
from demur.types import Pool
from laws import toys
from training.readers.test_readers import pool


def demur(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def _pairs(asked: Sequence[Pool]) -> list[tuple[str, str]]:
    return [(one.question, one.answers[0]) for one in asked]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader whose weights were drawn, and questions that make its doubtful quotes wrong beside it."""
    folder = tmp_path_factory.mktemp("doubts")
    drawn = SpanReader(model=toys.answerer(), max_length=32, stride=8, longest=1, threshold=1.0)
    save(drawn, folder / "reader")
    asked = [pool(n) for n in range(1500)]
    said = drawn.read_all(_pairs(asked))
    doubtful = np.quantile([each.confidence for each in said], 0.4)
    draws = np.random.default_rng(0).uniform(size=len(asked))
    made = []
    for one, each, draw in zip(asked, said, draws, strict=True):
        right = draw < (0.98 if each.confidence > doubtful else 0.1)
        start = each.quotes[0].span.start if right else one.answers[0].index("may")
        text = each.quotes[0].span.text if right else "may"
        made.append(replace(one, extra={**one.extra, "answers": [{"text": text, "answer_start": start}]}))
    for name, some in {"train": made[:100], "held": made[100:1100], "new": made[1100:]}.items():
        formats.write_pools(folder / f"{name}.json", some)
    return folder / "reader"


def data(reader: Path, name: str) -> Path:
    return reader.parent / f"{name}.json"


def test_a_doubt_is_taught_and_kept(reader: Path) -> None:
    words = ("--doubt", "probe-cnn(epochs=1)", "--probes-from", data(reader, "train"), "--json")
    done = demur("calibrate", reader, data(reader, "new"), *words)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["folder"] == str(reader / "doubt") and told["taught_on"] == 400
    kept = open_doubt(resolve_reader(reader))
    assert kept.probes is not None and kept.doubt.name == "probe-cnn" and kept.doubt.spec == told["doubt"]
    plain = demur("calibrate", reader, data(reader, "new"), "--doubt", "learned")
    assert plain.exit_code == 0 and plain.stdout.startswith("learned")
    assert open_doubt(resolve_reader(reader)).doubt.name == "learned", "it takes the place of the other"


def test_with_a_risk_the_gate_is_made_too(reader: Path) -> None:
    words = ("--doubt", "learned", "--risk", 0.2)
    done = demur("calibrate", reader, data(reader, "held"), *words)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Answers at this threshold were wrong at most 20 % of the time")
    assert "of no use" not in done.stderr
    gate = Gate.load(reader)
    assert gate.qualifier.startswith("reading(by=kept") and "quoting=true" in gate.qualifier
    assert 0.5 < gate.certificate.pools / 1000 < 0.75, "a third taught the doubt"
    held, new = pools(str(data(reader, "held"))), pools(str(data(reader, "new")))
    with pytest.raises(UsageError, match="calibrated on 1,000 of these 1,000"):
        gate.check_pools(held)
    decided = gate.decide(str(reader), new)
    right = np.array([one.positives > 0 for one in quoted(resolve_reader(reader), new)])
    assert 0.2 < decided.mean() < 0.9 and (~right[decided]).mean() < 0.25 < (~right).mean()
    said = np.array([each.span is not None for each in resolve_reader(reader).read_all(_pairs(new))])
    assert said[decided].all(), "where the reader quotes nothing, nothing passes"
    done = demur("calibrate", reader, data(reader, "new"), "--check", reader / "gate.json")
    assert done.exit_code == 0 and "does not contradict" in done.stdout
    again = demur("calibrate", reader, data(reader, "new"), "--doubt", "learned(features=proba)")
    assert again.exit_code == 0
    assert "gate.json was made with another doubt and is of no use now" in again.stderr
    with pytest.raises(UsageError, match="calibrate the gate again"):
        gate.decide(str(reader), new)


def test_a_gate_goes_with_its_reader_wherever_they_are_moved(
    reader: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(reader.parent)
    assert demur("calibrate", "reader", "held.json", "--doubt", "learned", "--risk", 0.2).exit_code == 0
    new = pools("new.json")
    before = Gate.load("reader").decide("reader", new)
    shutil.copytree("reader", tmp_path / "copy")
    monkeypatch.chdir(tmp_path)
    assert Gate.load("copy").decide("copy", new).tolist() == before.tolist()
    text = tmp_path / "text.md"
    text.write_text(new[0].answers[0])
    words = "ask", new[0].question, "--from", text, "--ranker", "copy", "--gate", "copy/gate.json"
    assert demur(*words).exit_code == 0
    refused = demur(*words, "--reader", toys.bidaf())
    assert "promises nothing about the quotes of bidaf" in str(refused.exception)


def test_a_doubt_that_needs_no_learning_leaves_all_questions_to_the_gate(reader: Path) -> None:
    words = ("--doubt", "proba", "--risk", 0.2, "-o", reader.parent / "g.json", "--json")
    done = demur("calibrate", reader, data(reader, "held"), *words)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["certificate"]["pools"] == 1000 and told["doubt"] == "proba"
    refused = demur("calibrate", reader, data(reader, "held"), "--doubt", "proba", "--risk", 0.001, "--json")
    assert refused.exit_code == 1 and json.loads(refused.stdout)["threshold"] is None


def test_the_same_doubt_whatever_the_order_of_the_file(reader: Path) -> None:
    held = list(pools(str(data(reader, "held"))))[:200]
    found = [DoubtTraining.of("learned", str(reader), some).split(3) for some in (held, held[::-1])]
    assert [one.id for one in found[0][0].pools] == [one.id for one in found[1][0].pools]
    assert [one.id for one in found[0][1]] == [one.id for one in found[1][1]]
    assert not {one.id for one in found[0][0].pools} & {one.id for one in found[0][1]}


def test_a_reader_in_no_folder_gets_one_with_its_doubt(reader: Path, tmp_path: Path) -> None:
    held = list(pools(str(data(reader, "held"))))[:90]
    formats.write_pools(tmp_path / "held.json", held)
    words: tuple[object, ...]
    for model in ("mini(threshold=20)", toys.answerer()):  # which answer what is asked here
        home = tmp_path / Path(model).name
        for words in ((), ("-o", "-"), ("-o", tmp_path / "g.json")):
            done = demur("calibrate", model, tmp_path / "held.json", "--doubt", "learned", *words)
            assert isinstance(done.exception, DemurError) and "new folder for both" in str(done.exception)
            assert not home.exists()
        learnt = ("--doubt", "learned", "-o", home)
        assert demur("calibrate", model, tmp_path / "held.json", "--doubt", "lerned", "-o", home).exception
        assert not home.exists(), "misuse comes before the work"
        done = demur("calibrate", model, tmp_path / "held.json", *learnt)
        assert done.exit_code == 0, done.output
        kept, own = open_doubt(resolve_reader(home)), resolve_reader(model)
        assert kept.doubt.name == "learned" and own.read_all(_pairs(held)) == resolve_reader(home).read_all(
            _pairs(held)
        )
        again = demur("calibrate", model, tmp_path / "held.json", *learnt)
        assert "holds a model already" in str(again.exception)
        asked = ("--reader", home, "-m", "AURC", "--qualifier", "kept", "--json")
        done = demur("evaluate", tmp_path / "held.json", *asked)
        if done.exit_code == 0:
            sure = kept.confidence(resolve_reader(home), held)
            said = json.loads(done.stdout)["answers"]["per_pool"]
            found = [said[one.id]["confidence"] for one in held]
            assert [f for f in found if f is not None] == pytest.approx(
                [s for s, f in zip(sure.tolist(), found, strict=True) if f is not None]
            )
        else:
            assert "there are no answers" in str(done.exception)


def test_with_a_risk_the_gate_lies_in_the_new_folder(reader: Path, tmp_path: Path) -> None:
    model = f'span-reader(model="{toys.answerer()}", max_length=32, stride=8, longest=1, threshold=1.0)'
    words = ("--doubt", "proba", "--risk", 0.2, "-o", tmp_path / "home")
    done = demur("calibrate", model, data(reader, "held"), *words)
    assert done.exit_code == 0, done.output
    gate = Gate.load(tmp_path / "home" / "gate.json")
    new = pools(str(data(reader, "new")))
    decided = gate.decide(str(tmp_path / "home"), new)
    right = np.array([one.positives > 0 for one in quoted(resolve_reader(model), new)])
    assert decided.any() and (~right[decided]).mean() < (~right).mean()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--doubt", "probe-cnn"), "by --probes-from"),
        (("--doubt", "averaged"), "train learned or probe-cnn"),
        (("--doubt", "lerned"), "lerned"),
        (("--probes-from", "x.json"), "needs --doubt"),
        (("--doubt", "learned", "-o", "g.json"), "such as --risk 0.1"),
        (("--doubt", "learned", "--qualifier", "top"), "leave --plan"),
        (("--doubt", "learned", "--risk", 7), "risk"),
        (("--doubt", "learned", "--risk", 0.1, "--confidence", 2), "confidence of 2"),
        (("--doubt", "learned", "--risk", 0.1, "--method", "lttt"), "lttt"),
    ],
)
def test_misuse_is_one_line_and_comes_before_the_work(reader: Path, words: tuple[str, ...], why: str) -> None:
    was = (reader / "doubt").exists() and open_doubt(resolve_reader(reader)).fingerprint
    done = demur("calibrate", reader, data(reader, "held"), *words)
    assert isinstance(done.exception, DemurError) and why in str(done.exception)
    assert "\n" not in str(done.exception)
    assert ((reader / "doubt").exists() and open_doubt(resolve_reader(reader)).fingerprint) == was


def test_what_is_no_reader_or_has_no_answers_is_refused(reader: Path, tmp_path: Path) -> None:
    for model in ("bm25", toys.classifier()):
        done = demur("calibrate", model, data(reader, "held"), "--doubt", "learned")
        assert isinstance(done.exception, DemurError), done.output
    formats.write_pools(tmp_path / "p.jsonl", [Pool.of("who?", ["me"], [1])])
    done = demur("calibrate", reader, tmp_path / "p.jsonl", "--doubt", "learned")
    assert isinstance(done.exception, DemurError) and "has no answers" in str(done.exception)
    with pytest.raises(UsageError, match="not in a folder"):
        DoubtTraining(Averaged(), SpanReader(model=toys.answerer()), ())


def test_misplaced_answers_and_several_passages_are_refused(reader: Path, tmp_path: Path) -> None:
    asked = list(pools(str(data(reader, "train"))))
    unplaced = [replace(one, extra={**one.extra, "answers": [{"text": "may"}]}) for one in asked]
    formats.write_pools(tmp_path / "unplaced.jsonl", unplaced)
    two = [Pool.of(one.question, one.answers * 2, id=one.id) for one in asked]
    formats.write_pools(
        tmp_path / "two.jsonl", [replace(b, extra=a.extra) for a, b in zip(asked, two, strict=True)]
    )
    for name, more, why in (
        ("held", ("probe-cnn", "--probes-from", tmp_path / "unplaced.jsonl"), "where answer_start says"),
        (tmp_path / "two.jsonl", ("learned",), "has 2 passages"),
    ):
        held = name if isinstance(name, Path) else data(reader, name)
        done = demur("calibrate", reader, held, "--doubt", *more)
        assert isinstance(done.exception, DemurError) and why in str(done.exception)


def test_a_reader_that_quotes_nothing_right_has_no_gate(reader: Path, tmp_path: Path) -> None:
    asked = list(pools(str(data(reader, "new"))))
    never = [{"text": "zebra", "answer_start": 0}]
    formats.write_pools(tmp_path / "wrong.jsonl", [replace(one, extra={"answers": never}) for one in asked])
    done = demur("calibrate", reader, tmp_path / "wrong.jsonl", "--doubt", "proba", "--risk", 0.1)
    assert done.exit_code == 1 and "cannot promise that" in done.output, done.output


def test_nothing_to_quote_is_the_least(reader: Path) -> None:
    assert demur("calibrate", reader, data(reader, "new"), "--doubt", "learned").exit_code == 0
    asked = [Pool.of("quest sailed?", [text]) for text in ("the ship sailed may the cape", "", "  ")]
    for by in ("kept", "proba"):
        found = Reading(reader=str(reader), by=by).confidence(asked, [np.zeros(1)] * 3)
        assert found[0] > 0 and (found[1:] == 0).all()


def test_a_doubt_written_anew_is_read_anew(reader: Path) -> None:
    asked = [Pool.of("quest sailed?", ["the ship sailed may the cape"], [1])]
    found = []
    for doubt in ("proba", "learned"):
        assert demur("calibrate", reader, data(reader, "new"), "--doubt", doubt).exit_code == 0
        found.append(Reading(reader=str(reader), by="kept").confidence(asked, [np.zeros(1)])[0])
    assert found[0] != found[1]
