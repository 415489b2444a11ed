from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from demur.cli.main import app
from demur.data import formats
from demur.errors import DemurError, UsageError
from demur.evaluation.intervals import estimates
from demur.evaluation.selective.measures import AURC
from demur.reading import reader as resolve_reader
from demur.reading.normalise import exact
from demur.reading.one_pass import OnePassReader
from demur.reading.published import golds
from demur.types import Pool
from laws import toys
from training.readers.test_readers import POOLS


def demur(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    formats.write_pools(tmp_path / "toy.json", POOLS)
    right = {pool.id: pool.extra["answers"][0]["text"] if pool.positives else "" for pool in POOLS}
    (tmp_path / "right.json").write_text(json.dumps(right))
    return tmp_path


def test_answers_in_a_file_are_measured(data: Path) -> None:
    done = demur("evaluate", data / "toy.json", "--answers", data / "right.json", "--json")
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    assert said["convention"] == "squad-2.0" and "best" not in said
    assert {name: found["mean"] for name, found in said["measures"].items()} == dict.fromkeys(
        ["EM", "F1", "HasAns-EM", "HasAns-F1", "NoAns-EM"], 1
    )
    (data / "none.json").write_text(json.dumps({pool.id: "" for pool in POOLS}))
    for name in ("right", "none"):
        words = ("--answers", data / f"{name}.json", "-o", data / f"{name}.report")
        done = demur("evaluate", data / "toy.json", *words)
        assert done.exit_code == 0 and "HasAns-F1" in done.stdout
    done = demur("compare", data / "none.report", data / "right.report", "--json")
    assert done.exit_code == 0
    gains = {row["measure"]: row["difference"] for row in json.loads(done.stdout)["rows"]}
    assert gains["HasAns-EM"] == 1 and gains["NoAns-EM"] == 0


def test_a_reader_is_trained_and_measured(data: Path) -> None:
    trainer = f'span-reader(base="{toys.bert()}", epochs=2, tokens=120, max_length=32)'
    done = demur("train", "--trainer", trainer, "--data", data / "toy.json", "-o", data / "model", "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["ranker"].startswith("span-reader(")
    done = demur("evaluate", data / "toy.json", "--reader", data / "model", "--json")
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    for name in ("EM", "F1"):
        assert said["best"][name]["mean"] >= said["measures"][name]["mean"] - 1e-12
    done = demur("evaluate", data / "toy.json", "--reader", data / "model")
    assert done.exit_code == 0 and "in hindsight, EM is" in done.stdout


def quotes() -> list[Pool]:
    """Questions to passages in which mini finds something; every second gold is another word."""
    known = {"who": "Anna Berg", "where": "Turin", "when": "1911"}
    passage = "The first kiln was built by Anna Berg in Turin in 1911, long before the mill."
    asked = {
        "who": "Who built the first kiln?",
        "where": "Where was the first kiln built?",
        "when": "When was the first kiln built?",
    }
    made = []
    for place, (name, question) in enumerate([*asked.items()] * 2):
        gold = known[name] if place % 2 else "mill"
        answers = [{"text": gold, "answer_start": passage.index(gold)}]
        made.append(replace(Pool.of(question, [passage], [1], id=f"{place}"), extra={"answers": answers}))
    void = Pool.of("Who sold the ship?", [passage], [0], id="void")
    return [*made, replace(void, extra={"answers": []})]


def test_a_readers_quotes_have_a_risk_and_a_coverage(tmp_path: Path) -> None:
    """AURC is over what the reader quotes, by the gold: all passages but one are labelled 1 here."""
    asked = quotes()
    formats.write_pools(tmp_path / "read.jsonl", asked)
    looks = resolve_reader("mini")
    assert isinstance(looks, OnePassReader)
    seen = looks.looks([(pool.question, pool.answers[0]) for pool in asked])
    given = [one for one, look in enumerate(seen) if look.span is not None]
    wrong = [float(not exact(seen[one].span.text, golds(asked[one]))) for one in given]  # type: ignore[union-attr]
    assert 0 < sum(wrong) < len(wrong), "some quotes are right, though all passages are"
    for words, sure in (
        ((), [seen[one].confidence for one in given]),
        (("--qualifier", "proba"), [seen[one].reading.confidence for one in given]),
    ):
        wanted = ("-m", "EM,AURC,E-AURC,Risk@0.5", *words, "--json")
        done = demur("evaluate", tmp_path / "read.jsonl", "--reader", "mini", *wanted)
        assert done.exit_code == 0, done.output
        said = json.loads(done.stdout)
        assert list(said["measures"]) == ["EM", "AURC", "E-AURC", "Risk@0.5"]
        assert said["measures"]["AURC"]["mean"] == pytest.approx(AURC.of(sure, wrong), abs=1e-4)
        assert said["counted"]["AURC"] == len(given) and said["counted"]["EM"] == len(asked)
        assert said["answers"]["outcomes"]["AD+"] == len(wrong) - sum(wrong)
    plain = demur("evaluate", tmp_path / "read.jsonl", "--reader", "mini", "-m", "EM,AURC")
    assert "confidence by mini" in plain.stdout and "quotes right" in plain.stdout
    assert "EM less that of giving no answer at all" in plain.stdout


def test_reports_of_quotes_are_compared_by_risk_too(tmp_path: Path) -> None:
    formats.write_pools(tmp_path / "read.jsonl", quotes())
    for name in ("mini", "proba"):
        words = ("--reader", "mini", "-m", "F1,AURC", "-o", tmp_path / f"{name}.report", "--qualifier", name)
        done = demur("evaluate", tmp_path / "read.jsonl", *words[: None if name == "proba" else -2])
        assert done.exit_code == 0, done.output
    done = demur("compare", tmp_path / "proba.report", tmp_path / "mini.report", "--json")
    assert done.exit_code == 0, done.output
    assert [row["measure"] for row in json.loads(done.stdout)["rows"]] == ["F1", "AURC"]


def test_labels_of_passages_do_not_judge_quotes(tmp_path: Path) -> None:
    formats.write_pools(tmp_path / "read.jsonl", quotes())
    for qualifier, reader in (("reading(reader=x)", "x"), ("mini", "mini"), ("reading", "mini")):
        words = ("--ranker", "mini", "-m", "AURC", "--qualifier", qualifier)
        done = demur("evaluate", tmp_path / "read.jsonl", *words)
        assert isinstance(done.exception, UsageError)
        right = f"write demur evaluate {tmp_path / 'read.jsonl'} --reader {reader} -m EM,F1,AURC"
        assert "not the quotes" in str(done.exception) and right in str(done.exception)
    done = demur("calibrate", "mini", tmp_path / "read.jsonl", "--qualifier", "mini", "--risk", 0.2)
    assert "--doubt learned --risk 0.2" in str(done.exception)
    formats.write_pools(
        tmp_path / "pools.jsonl", [Pool.of("who?", ["me", "you"], [1, 0], id=i) for i in "abc"]
    )
    words = ("--ranker", "mini", "-m", "AURC", "--qualifier", "mini")
    assert demur("evaluate", tmp_path / "pools.jsonl", *words).exit_code == 0, "these labels do judge"


def test_never_answering_is_what_a_reader_is_held_against(data: Path) -> None:
    """One right answer more than answers where there is none: not significantly better than silence."""
    right = json.loads((data / "right.json").read_text())
    void = [pool for pool in POOLS if not pool.positives]
    full = [pool for pool in POOLS if pool.positives]
    for good, bad in ((len(full), 0), (3, 2), (0, 1)):
        kept = {pool.id: right[pool.id] if place < good else "" for place, pool in enumerate(full)}
        kept |= {pool.id: "something" if place < bad else "" for place, pool in enumerate(void)}
        (data / "a.json").write_text(json.dumps(kept))
        words = ("evaluate", data / "toy.json", "--answers", data / "a.json")
        gain = json.loads(demur(*words, "--json").stdout)["over_silence"]
        assert gain["mean"] == pytest.approx((good - bad) / len(POOLS))
        apart = np.repeat([1.0, -1.0, 0.0], [good, bad, len(POOLS) - good - bad])
        (whole,) = estimates(apart[:, None], method="percentile")
        assert (gain["low"], gain["high"]) == pytest.approx((whole.low, whole.high), abs=1.01 / len(POOLS))
        assert (
            ("not significantly better" in demur(*words).stdout) == (gain["low"] <= 0) == (good < len(full))
        )


def test_misuse_is_one_line(data: Path) -> None:
    for words in (
        ("--reader", "a", "--answers", "b"),
        ("--reader", "a", "--ranker", "bm25"),
        ("--answers", "a", "--qrels", "b"),
        ("--answers", data / "right.json", "-m", "MAP"),
        ("--answers", data / "right.json", "-m", "AURC"),
        ("--answers", data / "right.json", "--qualifier", "proba"),
        ("--reader", "mini", "-m", "AURC(rel=2)"),
        ("--reader", "mini", "-m", "EM", "--qualifier", "proba"),
        ("--reader", "mini", "-m", "AURC", "--qualifier", "margin"),
        ("--reader", "mini", "-m", "AURC", "--qualifier", "kept"),
        ("--reader", "a", "--convention", "trec"),
    ):
        done = demur("evaluate", data / "toy.json", *words)
        assert isinstance(done.exception, DemurError) and "\n" not in str(done.exception)
    assert demur("evaluate", "--reader", "a").exit_code != 0
