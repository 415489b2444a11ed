"""The command line as a user meets it: what comes out, where, and with which exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.calling import process
from demur.data import formats
from demur.types import Pool

POOLS = [
    Pool.of("which ape eats", ["an ape eats figs", "a bee flies", "apes sleep"], [1, 0, 0], id="q1"),
    Pool.of("which bee flies", ["an ape eats", "the bee flies"], [0, 1], id="q2"),
    Pool.of("which cat", ["a dog", "a fox"], [0, 0], id="q3"),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    formats.write_pools(tmp_path / "pools.jsonl", POOLS)
    return tmp_path / "pools.jsonl"


def test_rank_reads_lines_and_objects(tmp_path: Path) -> None:
    done = process("rank", "which bee?", "--candidates", "-", stdin="an ape\n\nthe bee — 蜂\n")
    assert done.returncode == 0 and done.stderr == ""
    assert [line.split(maxsplit=2)[2] for line in done.stdout.splitlines()] == ["the bee — 蜂", "an ape"]
    (tmp_path / "c.jsonl").write_text('{"id": "a", "text": "an ape"}\n"a bee"\n', "utf-8")
    done = process("rank", "bee", "--candidates", tmp_path / "c.jsonl", "--top", 1, "--json")
    assert json.loads(done.stdout)["ranking"][0]["text"] == "a bee"


def test_score_writes_a_file_or_a_pipe(data: Path) -> None:
    done = process("score", data, "-o", data.parent / "out.run", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["pairs"] == 7
    assert len((data.parent / "out.run").read_text().splitlines()) == 7
    piped = process("score", "-", "-o", "-", stdin=data.read_text("utf-8"))
    scores = [[c["score"] for c in json.loads(line)["candidates"]] for line in piped.stdout.splitlines()]
    run = formats.read_run(data.parent / "out.run")
    assert scores[0] == [run["q1"][id] for id in "012"]


def test_evaluate_and_compare_go_hand_in_hand(data: Path) -> None:
    for ranker in ("bm25", "length"):
        out = data.parent / f"{ranker}.json"
        done = process("evaluate", data, "--ranker", ranker, "-m", "MAP,P@1", "-o", out)
        assert done.returncode == 0, done.stderr
        report = json.loads(out.read_text())
        assert {"measures", "convention", "pools", "skipped", "per_pool"} <= set(report)
        assert (report["convention"], report["pools"], report["skipped"]) == ("fixed", 2, 1)
        assert set(report["measures"]["MAP"]) == {"mean", "low", "high"}
    done = process("compare", data.parent / "bm25.json", data.parent / "length.json", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)


def test_a_table_for_people_names_convention_and_skipped(data: Path) -> None:
    done = process("evaluate", data, "--ranker", "bm25", "--convention", "semeval10")
    assert "convention semeval10: 3 pools, 0 skipped\n" in done.stdout and done.stderr == ""


def test_what_a_measure_skips_by_itself_is_counted_too(data: Path) -> None:
    done = process("evaluate", data, "--ranker", "bm25", "--convention", "scan", "-m", "MAP,P@1")
    assert "convention scan: 3 pools, 0 skipped, 1 more by MAP\n" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rank", "q", "--candidates", "none.txt"], "none.txt: no such file; check the spelling of the path"),
        (
            ["rank", "q", "--candidates", "{data}", "--ranker", "bm52"],
            "unknown ranker 'bm52'; did you mean 'bm25'?",
        ),
        (
            ["score", "{data}", "-o", "out.xyz"],
            "out.xyz: cannot tell the format of a name that ends in '.xyz'",
        ),
        (
            ["score", "-", "-o", "-", "--ranker", "bm25(stats=dataset)"],
            "reads its data twice, which a pipe cannot do",
        ),
        (["evaluate", "{data}", "--ranker", "bm25", "-m", "P"], "P@"),
        (
            ["evaluate", "wikiqa/tset", "--ranker", "bm25"],
            "unknown split of wikiqa 'tset'; did you mean 'test'?",
        ),
        (["evaluate", "{data}", "--ranker", "bm25", "--convention", "treck"], "did you mean 'trec'?"),
        (["compare", "{data}", "pyproject.toml"], "not JSON"),
        (["data", "show", "wikipedia"], "unknown dataset or file 'wikipedia'"),
        (["reproduce", "scarse"], "no recipes of a paper 'scarse'"),
        (["ask", "why?"], "name files with --from"),
    ],
)
def test_misuse_is_one_line_and_exit_2(data: Path, words: list[str], message: str) -> None:
    done = process(*(word.format(data=data) for word in words))
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("demur: ") and done.stderr.count("\n") == 1
    assert message in done.stderr


def test_unknown_options_exit_2() -> None:
    assert process("score", "--no-such-option").returncode == 2
    assert process("nonsense").returncode == 2


def test_version_and_bare_call() -> None:
    assert process("--version").stdout.startswith("demur ")
    assert "reproduce" in process().stdout + process().stderr


def test_a_closed_pipe_is_silent(data: Path) -> None:
    many = data.parent / "many.jsonl"
    formats.write_pools(many, [Pool.of("ape", ["an ape " * 50], id=str(n)) for n in range(3000)])
    command = f"{sys.executable} -m demur score {many} -o - | head -n 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.count("\n") == 1


def test_ctrl_c_while_python_still_reads_the_code_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n", "utf-8")  # what is read first
    command = [sys.executable, "-c", "from demur.__main__ import main; main()"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 130 and not done.stderr
