"""`demur evaluate` and `demur compare` where the data, the names or the numbers are not as they should be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from demur.cli import console
from demur.cli.main import app
from demur.errors import DemurError


def call(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def run(*words: object) -> str:
    done = call(*words)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def refused(*words: object) -> str:
    done = call(*words)
    assert isinstance(done.exception, DemurError), (done.output, done.exception)
    assert "\n" not in str(done.exception)
    return str(done.exception)


def written(path: Path, rows: list[list[dict[str, Any]]], ids: str = "q{}") -> Path:
    lines = [
        json.dumps({"id": ids.format(n), "question": "?", "candidates": row}) for n, row in enumerate(rows)
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def candidates(*pairs: tuple[int, Any]) -> list[dict[str, Any]]:
    return [
        {"id": f"c{n}", "text": "tea", "label": label, "score": score}
        for n, (label, score) in enumerate(pairs)
    ]


RIGHT, WRONG = candidates((1, 0.9), (0, 0.1), (0, 0.2)), candidates((1, 0.1), (0, 0.9), (0, 0.2))


def report(folder: Path, name: str, rows: list[list[dict[str, Any]]], measures: str = "MAP,P@1") -> Path:
    out = folder / f"{name}.json"
    run("evaluate", written(folder / f"{name}.jsonl", rows), "-m", measures, "-o", out)
    return out


@pytest.mark.parametrize("value", ["abc", None, True, "1.5", [1], 10**400])
def test_a_score_that_is_no_number_is_named_with_its_file_pool_and_candidate(
    tmp_path: Path, value: object
) -> None:
    path = written(tmp_path / "scored.jsonl", [RIGHT, candidates((1, 0.5), (0, value))])
    shown = json.dumps(value)[:60]
    says = f"{path}: the score of candidate 'c1' in pool 'q1' is {shown}, not a number; write a number"
    assert refused("evaluate", path).startswith(says)


def test_a_score_that_json_cannot_hold_is_named_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path / "scored.jsonl", [RIGHT, candidates((1, 0.5), (0, float("nan")))])
    assert refused("evaluate", path).startswith(f"{path}:2: candidate 2: 'score' holds NaN, or a number that")


def test_a_missing_score_is_named(tmp_path: Path) -> None:
    bare = [{"id": "c", "text": "tea", "label": 1}]
    path = written(tmp_path / "scored.jsonl", [RIGHT, bare])
    assert f"{path}: candidate 'c' in pool 'q1' has no score, though others have" in refused("evaluate", path)


def test_errors_name_the_data(tmp_path: Path) -> None:
    twice = written(tmp_path / "twice.jsonl", [RIGHT, RIGHT], "q")
    for words in ([], ["--ranker", "bm25"]):
        assert refused("evaluate", twice, *words).startswith(f"{twice}: two pools have the id 'q'")


def test_the_format_may_be_said(tmp_path: Path) -> None:
    path = tmp_path / "asnq.tsv"
    path.write_text("tea?\tgreen tea\t4\ntea?\tbread\t1\ntea?\tbutter bread\t3\n", "utf-8")
    printed = json.loads(
        run("evaluate", path, "--format", "asnq", "--ranker", "overlap", "-m", "RR", "--json")
    )
    assert printed["measures"]["RR"]["mean"] == 1.0
    assert printed["data"] == str(path)
    nameless = tmp_path / "pools"
    written(nameless, [RIGHT])
    assert json.loads(run("evaluate", nameless, "--format", "jsonl", "--json"))["pools"] == 1
    (tmp_path / "a.run").write_text("q0 Q0 c0 1 1.0 t\n", "utf-8")
    found = run("evaluate", nameless, "--format", "jsonl", "--run", tmp_path / "a.run", "--json")
    assert json.loads(found)["measures"]["MAP"]["mean"] == 1.0
    assert "--format is the format of DATA" in refused("evaluate", "--format", "jsonl", "--run", "r")


def test_what_goes_to_stdout_is_one_document(tmp_path: Path) -> None:
    path = written(tmp_path / "scored.jsonl", [RIGHT, WRONG])
    both = json.loads(run("evaluate", path, "-o", "-", "--json"))
    assert both == json.loads(run("evaluate", path, "--json")) == json.loads(run("evaluate", path, "-o", "-"))


def test_numbers_that_mean_nothing_are_misuse(tmp_path: Path) -> None:
    path = written(tmp_path / "scored.jsonl", [RIGHT, WRONG])
    assert "the cut-off in P@1e+20" in refused("evaluate", path, "-m", "P@99999999999999999999")
    for words in (["evaluate", path], ["compare", path, path]):
        done = call(*words, "--seed", -1)
        assert done.exit_code == 2
        assert "--seed" in done.stderr


def test_reports_on_other_candidates_are_not_compared(tmp_path: Path) -> None:
    full = report(tmp_path, "full", [RIGHT, WRONG])
    easy = report(tmp_path, "easy", [RIGHT[:2], WRONG])
    assert "full and easy have 1 pool of the same ids but not the same candidates" in refused(
        "compare", full, easy
    )
    none = candidates((0, 0.9), (0, 0.1))
    assert "over 2 pools" in run("compare", full, report(tmp_path, "more", [WRONG, RIGHT, none]))
    old = json.loads(full.read_text("utf-8"))
    del old["labels"]
    (tmp_path / "old.json").write_text(json.dumps(old), "utf-8")
    assert "the report old does not say what was judged; evaluate it again" in refused(
        "compare", full, tmp_path / "old.json"
    )


def test_tests_are_told_apart_and_a_small_p_is_not_nothing(tmp_path: Path) -> None:
    good, bad = report(tmp_path, "good", [RIGHT] * 40), report(tmp_path, "bad", [WRONG] * 40)
    printed = " ".join(run("compare", good, bad, "--test", "permutation, wilcoxon").split())
    assert "measure system test mean" in printed
    for test in ("permutation", "wilcoxon"):
        assert f"bad {test} 0.3333 -0.6667" in printed
        assert f"bad {test} 0.0000 -1.0000" in printed
    assert "permutation, wilcoxon tests over 40 pools" in printed
    assert "adjusted by Holm for 2 comparisons, each test by itself" in printed
    assert "< 0.0001" in printed
    alone = " ".join(run("compare", good, bad, "--test", "wilcoxon").split())
    assert "measure system mean" in alone
    assert "adjusted by Holm for 2 comparisons\n" in run("compare", good, bad, "--test", "wilcoxon")


def test_reading_and_comparing_tell_how_far_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metered: list[tuple[str, int]] = []

    class Meter:
        def __init__(self, label: str, unit: str, total: int | None = None) -> None:
            self.label = label

        def __enter__(self) -> Any:
            return lambda advance: metered.append((self.label, advance))

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(console, "meter", Meter)
    monkeypatch.setattr("demur.cli.evaluation.compare.meter", Meter)
    good, bad = report(tmp_path, "good", [RIGHT] * 3), report(tmp_path, "bad", [WRONG] * 3)
    assert metered == [("reading", 1)] * 6
    metered.clear()
    run("compare", good, bad)
    assert metered == [("reading", 1)] * 2 + [("comparing", 1)] * 2


def test_options_that_would_do_nothing_are_refused(tmp_path: Path) -> None:
    data = written(tmp_path / "a.jsonl", [RIGHT, WRONG])
    assert "--seeds is for --suite" in refused("evaluate", data, "--seeds", 3)
    message = refused("evaluate", data, "--ranker", "bm25", "--qualifier", "margin")
    assert "no measure asks that; add one, such as -m MAP,AURC" in message
    assert "AURC" in run("evaluate", data, "--ranker", "bm25", "--qualifier", "margin", "-m", "AURC")


def test_what_makes_labels_say_less_is_told(tmp_path: Path) -> None:
    data = tmp_path / "a.csv"
    data.write_text("question,answer,label\nWho?,Ann,1\nWhen?,Now,1\nwho?,Bob,0\n", "utf-8")
    told = call("evaluate", data, "--ranker", "bm25").stderr
    assert (
        f"{data}: 1 question asked before, such as “who?”; each counts as a question of its own. Rows" in told
    )
    assert f"{data}: no question has a wrong answer, so any ranking is right" in told
    both = tmp_path / "both.csv"
    both.write_text(
        "question,answer,label\nWho?,Ann,1\nWho?,It was Bob,0\nWhen?,Now,1\nwho?,Bob,0\n", "utf-8"
    )
    assert "asked before" in call("evaluate", both, "--cases", "random", "length").stderr
    whole = written(tmp_path / "b.jsonl", [RIGHT, WRONG])
    assert "any ranking is right" not in call("evaluate", whole, "--ranker", "bm25").stderr


def test_what_is_read_is_not_overwritten(tmp_path: Path) -> None:
    data = written(tmp_path / "a.jsonl", [RIGHT, WRONG])
    before = data.read_bytes()
    for words in (
        ("evaluate", data, "--ranker", "bm25", "-o", data),
        ("evaluate", data, "--cases", "bm25", "length", "-o", data),
        ("calibrate", "bm25", data, "-o", data),
        ("calibrate", "meaning", tmp_path / "none.jsonl", "--from", data, "-o", data),
        ("calibrate", "meaning", tmp_path / "none.jsonl", "--from", tmp_path, "-o", data),
    ):
        assert "is the file that is read, and would be lost; name another file to write" in refused(*words)
    assert data.read_bytes() == before


def test_judged_questions_that_a_run_lacks_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2.0 x\n")
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\nq2 0 d2 1\nq3 0 d3 0\n")
    words = "evaluate", "--run", tmp_path / "a.run", "--qrels", tmp_path / "a.qrels"
    assert "1 question with right answers not in it, counted as not answered" in call(*words).stderr
    for trec in "trec", "trec(no_positive=skip)":
        found = call(*words, "--convention", trec)
        assert "1 question with right answers not in it, left out" in found.stderr
        assert "skipped (no positive, or not judged, or not in the run)" in found.stdout
