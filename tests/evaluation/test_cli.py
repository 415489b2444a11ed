"""`demur evaluate` and `demur compare`, from files to what they print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from demur.cli.evaluation.compare import compare
from demur.cli.evaluation.evaluate import evaluate
from demur.errors import DemurError

APP = typer.Typer()
APP.command()(evaluate)
APP.command()(compare)

POOLS = [
    ("q1", [("a", "tea or coffee", 1, 0.1), ("b", "tea", 0, 0.9)]),
    ("q2", [("a", "bread", 0, 0.5), ("b", "bread and butter", 2, 0.5)]),
    ("q3", [("a", "no", 0, 1.0), ("b", "nothing", 0, 2.0)]),
]


@pytest.fixture
def pools(tmp_path: Path) -> Path:
    path = tmp_path / "pools.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for id, candidates in POOLS:
            rows = [{"id": c, "text": t, "label": label, "score": s} for c, t, label, s in candidates]
            file.write(json.dumps({"id": id, "question": "tea with what?", "candidates": rows}) + "\n")
    return path


def run(*arguments: object) -> str:
    found = CliRunner().invoke(APP, [str(argument) for argument in arguments], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.stdout


def refused(says: str, *arguments: object) -> None:
    with pytest.raises(DemurError, match=says) as caught:
        run(*arguments)
    assert "\n" not in str(caught.value)


def test_scores_in_the_file_or_a_ranker(pools: Path) -> None:
    scored = json.loads(run("evaluate", pools, "-m", "MAP,P@1", "--json"))
    assert scored["per_pool"] == {"q1": {"MAP": 0.5, "P@1": 0.0}, "q2": {"MAP": 0.75, "P@1": 0.5}}
    assert (scored["pools"], scored["skipped"], scored["data"]) == (2, 1, str(pools))
    longest = json.loads(run("evaluate", pools, "--ranker", "length", "-m", "RR", "--json"))
    assert longest["ranker"].startswith("length")
    assert longest["measures"]["RR"]["mean"] == 1.0


def test_a_run_with_qrels_or_with_the_labels_of_pools(pools: Path, tmp_path: Path) -> None:
    (tmp_path / "r.run").write_text("q1 Q0 b 1 0.9 t\nq1 Q0 a 2 0.1 t\nq2 Q0 a 1 1 t\nq2 Q0 b 2 1 t\n")
    (tmp_path / "r.qrels").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 b 2\nq2 0 a 0\n")
    by_qrels = json.loads(
        run("evaluate", "--run", tmp_path / "r.run", "--qrels", tmp_path / "r.qrels", "--json")
    )
    by_pools = json.loads(run("evaluate", pools, "--run", tmp_path / "r.run", "--json"))
    scored = json.loads(run("evaluate", pools, "--json"))
    assert by_qrels["per_pool"] == by_pools["per_pool"] == scored["per_pool"]
    trec = run(
        "evaluate", "--run", tmp_path / "r.run", "--qrels", tmp_path / "r.qrels", "--convention", "trec"
    )
    assert "convention trec: 2 pools, 0 skipped" in trec


def test_the_table_names_convention_and_skipped_pools(pools: Path) -> None:
    printed = run("evaluate", pools, "--confidence", 0.9)
    assert "convention fixed: 2 pools, 1 skipped" in printed
    assert "90% interval" in printed
    assert all(name in printed for name in ("MAP", "RR", "P@1", "nDCG@10", "0.6250"))
    assert "convention fixed(no_positive=zero): 3 pools, 0 skipped\n" in run(
        "evaluate", pools, "--no-positive", "zero"
    )


def test_measures_over_answers_come_with_a_qualifier(pools: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    printed = run("evaluate", pools, "-m", "MAP,AURC,Risk@1", "--qualifier", "top", "-o", out)
    found = json.loads(out.read_text("utf-8"))
    assert found["answers"]["qualifier"].startswith("top")
    assert found["measures"]["Risk@1"]["mean"] == 2.5 / 3  # q1 wrong, q2 by half, q3 has nothing right
    assert found["counted"] == {"MAP": 2, "AURC": 3, "Risk@1": 3}
    assert "0.5 top candidates right, 1.5 wrong, 1 wrong where none is right" in " ".join(printed.split())
    assert "confidence by margin" in run("evaluate", pools, "-m", "AURC")
    assert "bootstrap" in run("compare", out, _copy(out), "-m", "AURC")
    refused(
        "unknown qualifier 'tpo'; did you mean 'top'", "evaluate", pools, "-m", "AURC", "--qualifier", "tpo"
    )
    refused("a run has no confidence", "evaluate", pools, "--run", pools, "--qualifier", "top")
    refused("AURC needs the confidence", "evaluate", pools, "--run", _run(tmp_path), "-m", "AURC")


def _copy(path: Path) -> Path:
    other = path.with_name("other.json")
    other.write_bytes(path.read_bytes())
    return other


def _run(folder: Path) -> Path:
    path = folder / "one.run"
    path.write_text("q1 Q0 b 1 0.9 t\n", "utf-8")
    return path


def test_reports_are_compared(pools: Path, tmp_path: Path) -> None:
    for name, ranker in (("short", "random"), ("long[er]", "length")):
        path = tmp_path / f"{name}.json"
        assert "0.9" not in run(
            "evaluate", pools, "--ranker", ranker, "-m", "RR", "-o", path, "--confidence", 0.8
        )
        assert json.loads(path.read_text("utf-8"))["confidence"] == 0.8
    short, longer = tmp_path / "short.json", tmp_path / "long[er].json"
    printed = run("compare", short, longer)
    assert "long[er]" in printed
    assert "convention fixed" in printed
    assert "adjusted by Holm for 1 comparison" in " ".join(printed.split())
    assert max(map(len, printed.splitlines()[:3])) <= 80
    found = json.loads(run("compare", short, longer, "--baseline", "long[er]", "--json"))
    assert found["baseline"] == "long[er]"
    assert found["rows"][0]["system"] == "short"
    assert found == json.loads(run("compare", short, longer, "--baseline", longer, "--json"))


def test_misuse_is_one_clear_line(pools: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"id": "q", "question": "?", "candidates": [{"id": "a", "text": "x", "label": 1}]}\n')
    refused("has no scores; name a --ranker", "evaluate", bare)
    refused("nothing to evaluate", "evaluate")
    refused("--qrels holds the labels of a --run", "evaluate", pools, "--qrels", pools)
    refused("name either --qrels FILE or DATA", "evaluate", "--run", pools)
    refused("name either --qrels FILE or DATA", "evaluate", pools, "--run", pools, "--ranker", "bm25")
    refused("no such file", "compare", tmp_path / "a.json", tmp_path / "b.json")
    refused("a.json is named twice", "compare", "a.json", "a.json")
