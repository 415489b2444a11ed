"""A scorer by the names of its parts, in Python and at the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import demur
from cli.calling import process
from demur.asking import packaged
from demur.asking.reading import look_pools
from demur.data import formats
from demur.errors import DemurError
from demur.risk.gates.gate import Gate
from demur.scale import open_scorer
from demur.scoring import score_batch
from demur.types import Pool
from scored import RANKER, made

there = pytest.mark.skipif(not packaged.there(), reason="the packaged model is not here")
DRILLS = [
    Pool.of(
        "How long may members keep a drill?",
        ["The workshop opens at nine.", "Members may keep a drill for two weeks. Ask for more.", "No."],
        id="drill",
    ),
    Pool.of("Who may use the kiln?", ["Members who took the course may use the kiln."], id="kiln"),
    Pool("empty", "Who?", ()),
]


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gate") / "gate.json"
    demur.calibrate("bm25", [*made(100), *tied(30)], risk=0.1).save(path)
    return path


def test_without_a_reader_or_a_gate_there_are_scores_alone() -> None:
    scorer = open_scorer("bm25")
    assert not scorer.finds_more and scorer.facts == {"ranker": RANKER.fingerprint}
    assert scorer.pools(made(2)) == score_batch(RANKER, made(2))


def tied(number: int) -> list[Pool]:
    """Pools that the ranker knows nothing of, so that a gate has what to refuse."""
    return [Pool.of(f"what {n}?", ["no such word", "nor here"], [0, 1], id=f"t{n}") for n in range(number)]


def test_a_gate_judges_as_it_does_for_rank(gate: Path) -> None:
    scorer = open_scorer("bm25", gate=gate)
    pools = [*made(2), *tied(1)]
    opened = Gate.load(gate)
    for pool in scorer.pools(pools):
        verdict = opened.judge(RANKER.rank(pool.question, pool.candidates))
        assert pool.extra == {"confidence": verdict.confidence, "refusal": verdict.refusal}
    refusals = [pool.extra["refusal"] for pool in scorer.pools(pools)]
    assert refusals[:2] == ["", ""] and "is below" in refusals[2]


def test_other_gates_are_other_jobs(gate: Path, tmp_path: Path) -> None:
    demur.calibrate("bm25", made(100), risk=0.2).save(tmp_path / "gate.json")
    facts = [open_scorer("bm25", gate=each).facts for each in (gate, gate, tmp_path / "gate.json")]
    assert facts[0] == facts[1] != facts[2] and set(facts[0]) == {"ranker", "gate"}


@there
def test_mini_ranks_and_quotes_in_one_pass() -> None:
    mini = demur.ranker("mini")
    scorer = open_scorer("mini", reader="mini")
    assert scorer.one_pass and scorer.facts["reader"] == mini.fingerprint
    found = scorer.pools(DRILLS)
    scores = [[one.extra["score"] for one in pool.candidates] for pool in found]
    assert scores == [each.tolist() for each in mini.score_pools(DRILLS)], "to the last digit"
    assert "two weeks" in found[0].candidates[1].extra["span"]["text"]
    assert found[0].candidates[0].extra["span"] is None
    looks = look_pools(mini, DRILLS)
    sure = [[one.extra["span_confidence"] for one in pool.candidates] for pool in found]
    assert sure == [[look.confidence for look in each] for each in looks]


@there
def test_another_ranker_keeps_its_scores_beside_a_reader() -> None:
    scorer = open_scorer("bm25", reader="mini")
    assert not scorer.one_pass
    found = scorer.pools(DRILLS)
    scores = [[one.extra["score"] for one in pool.candidates] for pool in found]
    assert scores == [each.tolist() for each in RANKER.score_pools(DRILLS)]
    assert "two weeks" in found[0].candidates[1].extra["span"]["text"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"reader": "none"}, "whole sentences are quoted by demur ask alone; name a reader, such as mini"),
        ({"reader": "bm25"}, "bm25.* ranks and does not read"),
        ({"gate": "none.json"}, "no such file"),
    ],
)
def test_what_cannot_be_opened_is_one_line(words: dict[str, str], message: str) -> None:
    with pytest.raises(DemurError, match=message):
        open_scorer("bm25", **words)  # type: ignore[arg-type]


def test_a_gate_for_another_ranker_is_refused(gate: Path) -> None:
    with pytest.raises(DemurError, match=r"calibrated for the ranker bm25.*not for overlap"):
        open_scorer("overlap", gate=gate)


@there
def test_a_gate_for_files_is_refused() -> None:
    files = Path(demur.__file__).parent / "models" / "meaning"
    with pytest.raises(DemurError, match="this gate is for questions to files"):
        open_scorer("bm25", gate=files)


def test_demur_score_writes_what_a_gate_says(gate: Path, tmp_path: Path) -> None:
    formats.write_pools(tmp_path / "in.jsonl", made(5))
    done = process("score", tmp_path / "in.jsonl", "-o", tmp_path / "out.parquet", "--gate", gate, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pairs"] == 15
    assert list(formats.read_pools(tmp_path / "out.parquet")) == open_scorer("bm25", gate=gate).pools(made(5))
    done = process("score", "-", "-o", "-", "--gate", gate, stdin=(tmp_path / "in.jsonl").read_text("utf-8"))
    assert json.loads(done.stdout.splitlines()[0])["refusal"] == "", done.stderr


@pytest.mark.parametrize("name", ["out.tsv", "out.run", "out.csv"])
def test_a_format_without_room_is_found_out_before_the_work(gate: Path, tmp_path: Path, name: str) -> None:
    formats.write_pools(tmp_path / "in.jsonl", made(5))
    done = process("score", tmp_path / "in.jsonl", "-o", tmp_path / name, "--gate", gate)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "quotes and what a gate says cannot be written as" in done.stderr
    assert "these can hold them: jsonl, parquet" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_the_python_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    exec(compile(blocks[0], "docs/scale.md", "exec"), {"__name__": "page"})
    assert capsys.readouterr().out.strip() == "[[1, 2]]"
