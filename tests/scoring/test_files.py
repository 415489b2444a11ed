"""Scores of what a file or a pipe holds, in every format."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import demur
from demur import scoring
from demur.data import formats
from demur.errors import DemurError
from demur.types import Candidate, Pool
from scored import RANKER, Failing, apart, made, scores, written


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return written(tmp_path)


def test_a_batch_keeps_the_pools_and_adds_scores() -> None:
    pools = made(3)
    scored = scoring.score_batch(RANKER, pools)
    assert [pool.id for pool in scored] == ["q0", "q1", "q2"]
    assert [c.label for c in scored[0].candidates] == [1, 0, 0]
    assert [c.extra["score"] for c in scored[1].candidates] == RANKER.score_pools(pools)[1].tolist()
    assert pools == made(3)


def test_shards_are_whole_pools_cut_alike() -> None:
    cut = list(scoring.shards(iter(made(10)), pairs=7))
    assert [len(shard) for shard in cut] == [3, 3, 3, 1]
    assert [pool for shard in cut for pool in shard] == made(10)
    assert list(scoring.shards([])) == []
    empty = [Pool(str(n), "no candidates", ()) for n in range(20)]
    assert len(list(scoring.shards(empty, pairs=7))) == 3, "pools without candidates take room too"


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.parquet", "out.tsv", "out.csv"])
def test_every_format_carries_the_scores(source: Path, name: str) -> None:
    target = source.parent / name
    done = scoring.score_file(str(source), str(target), RANKER, pairs=30)
    assert (done.pools, done.pairs, done.resumed_pools) == (100, 300, 0)
    found = list(scores(target).values())
    assert found == [each.tolist() for each in RANKER.score_pools(made(100))]
    assert sorted(path.name for path in source.parent.iterdir()) == sorted(["in.jsonl", name])


def test_a_run_is_trec(source: Path) -> None:
    target = source.parent / "out.run"
    scoring.score_file(str(source), str(target), RANKER)
    run = formats.read_run(target)
    assert run["q7"] == dict(zip("012", RANKER.score_pools(made(8))[7].tolist(), strict=True))


def test_the_folder_must_be_there(source: Path) -> None:
    with pytest.raises(DemurError, match="the folder to write into does not exist; make it first"):
        scoring.score_file(str(source), str(source.parent / "no" / "out.jsonl"), RANKER)


@pytest.mark.parametrize("name", ["a.jsonl", "soft.jsonl", "hard.jsonl", "more/../a.jsonl"])
def test_the_input_is_never_the_output(source: Path, name: str) -> None:
    source = source.rename(source.with_name("a.jsonl"))
    before = source.read_bytes()
    (source.parent / "more").mkdir()
    (source.parent / "soft.jsonl").symlink_to(source)
    (source.parent / "hard.jsonl").hardlink_to(source)
    target = source.parent / name
    for more in ({}, {"write_as": "run"}, {"restart": True}):
        with pytest.raises(DemurError, match=f"{name}: is the file that is read, and would be lost; name an"):
            scoring.score_file(str(source), str(target), RANKER, **more)
    assert source.read_bytes() == before and not list(source.parent.glob("*.parts"))
    formats.write_pools(source.parent / "beir", apart(3), "beir")
    with pytest.raises(DemurError, match="is the file that is read"):
        scoring.score_file(f"{source.parent}/beir", f"{source.parent}/beir/corpus.jsonl", RANKER)


def test_dataset_statistics_are_those_of_the_whole_file(source: Path) -> None:
    target = source.parent / "out.jsonl"
    ranker = demur.ranker("bm25", stats="dataset")
    scoring.score_file(str(source), str(target), ranker, pairs=30)
    wanted = ranker.prepare(made(100)).score_pools(made(100))
    assert list(scores(target).values()) == [each.tolist() for each in wanted]


def test_any_source_that_load_takes(tmp_path: Path) -> None:
    formats.write_pools(tmp_path / "beir", apart(10), "beir")
    for spelling in ("beir", "beir/qrels/test.tsv"):
        target = tmp_path / "o.run"
        assert scoring.score_file(str(tmp_path / spelling), str(target), RANKER).pairs == 10
        assert formats.read_run(target)["q7"] == {"q7": RANKER.score_pools(apart(8))[7][0]}
    with pytest.raises(DemurError, match="no such file"):
        scoring.score_file(str(tmp_path / "none.jsonl"), str(tmp_path / "o.run"), RANKER)
    with pytest.raises(DemurError, match="no such file"):
        scoring.score_file(str(tmp_path / "none"), str(tmp_path / "o.run"), RANKER, read_as="tsv")
    with pytest.raises(DemurError, match="name one of its splits"):
        scoring.score_file("wikiqa", str(tmp_path / "o.run"), RANKER)
    assert not (tmp_path / "o.run.parts").exists()


@pytest.mark.data
def test_a_dataset_by_its_id(tmp_path: Path) -> None:
    done = scoring.score_file("wikiqa/test/clean", str(tmp_path / "o.run"), RANKER)
    assert done.pools == 237
    assert [path.name for path in tmp_path.iterdir()] == ["o.run"]


@pytest.mark.parametrize(
    ("name", "write_as", "message"),
    [
        ("o.jsonl", "nope", "unknown format 'nope'"),
        ("o.qrels", None, "scores cannot be written as 'qrels'; these can hold them: jsonl, tsv"),
        ("o.json", None, "scores cannot be written as 'squad'"),
        ("o", "asnq", "scores cannot be written as 'asnq'"),
        (
            "folder",
            "beir",
            "scores cannot be written as 'beir'; these can hold them: jsonl, tsv, csv, parquet",
        ),
        ("new", "beir", "scores cannot be written as 'beir'"),
        ("folder", "jsonl", "is a folder, not a file"),
        ("folder", None, "is a folder, not a file; name a file in it"),
        ("empty", None, "is a folder, not a file; name a file in it"),
        ("in.jsonl/o.jsonl", None, "lies in a file, not in a folder"),
        ("-", None, "a pipe cannot be resumed"),
    ],
)
def test_a_target_that_cannot_be_is_found_out_before_the_work(
    source: Path, name: str, write_as: str | None, message: str
) -> None:
    (source.parent / "folder").mkdir()
    (source.parent / "folder" / "x").touch()
    (source.parent / "empty").mkdir()
    target = name if name == "-" else str(source.parent / name)
    with pytest.raises(DemurError, match=message):
        scoring.score_file(str(source), target, Failing(at="q0"), write_as=write_as)
    assert sorted(path.name for path in source.parent.iterdir()) == ["empty", "folder", "in.jsonl"]


@pytest.mark.parametrize("at", [2, 15])  # in the first shard, and in the second one
@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("o.run", {"id": "a b"}, "o.run: id 'a b' is empty or has a space, which TREC files cannot hold"),
        ("o.tsv", {"question": "a\tb"}, r"o.tsv: pool 'q\d+' has a tab or line break in 'a.tb'"),
        (
            "o.csv",
            {"extra": {"x": 1}},
            r"o.csv: pool 'q\d+' has the extra 'x'; a row has room for a candidate's",
        ),
        (
            "o.parquet",
            {"candidates": (Candidate("1", "ape", 10**20),)},
            r"o.parquet: pool 'q\d+' has the label 1000",
        ),
        (
            "tevatron",
            {"candidates": (Candidate("1", "ape"),)},
            r"tevatron: pool 'q\d+' has a candidate without",
        ),
    ],
)
def test_what_the_format_cannot_hold_is_told_at_its_shard(
    source: Path, name: str, wrong: dict[str, Any], message: str, at: int
) -> None:
    pools = apart(100)
    formats.write_pools(source, [*pools[:at], replace(pools[at], **wrong), *pools[at + 1 :]])
    target = str(source.parent / name)
    write_as = None if "." in name else name
    with pytest.raises(DemurError, match=f"^{source.parent}/{message}"):
        scoring.score_file(str(source), target, Failing(at="q50"), write_as=write_as, pairs=10)
    assert not Path(target).exists()


@pytest.mark.parametrize(
    "wrong", [r'{"text": "\ud800"}', '{"text": "a", "x": NaN}', '{"text": "a", "x": 1e400}']
)
def test_what_cannot_be_written_again_is_told_with_its_line(source: Path, wrong: str) -> None:
    with source.open("a", encoding="utf-8") as file:
        file.write(f'{{"question": "q", "candidates": [{wrong}]}}\n')
    for name in ("o.jsonl", "o.csv"):
        with pytest.raises(
            DemurError, match=f"^{source}:101: .*(half a character, U.D800|'x' holds NaN, or)"
        ):
            scoring.score_file(str(source), str(source.parent / name), RANKER)


@pytest.mark.parametrize("name", ["o.csv", "o.tsv"])
def test_an_extra_that_comes_late_has_a_column(source: Path, name: str) -> None:
    pools = [
        replace(pool, candidates=(replace(pool.candidates[0], extra={"x": "y"}),)) for pool in apart(100)
    ]
    formats.write_pools(source, [*apart(5), *pools[5:8], *apart(99)[8:], pools[99]])
    target = source.parent / name
    with pytest.raises(RuntimeError):
        scoring.score_file(str(source), str(target), Failing(at="q50"), pairs=10)
    assert scoring.score_file(str(source), str(target), RANKER, pairs=10).resumed_pools == 50
    found = [pool.candidates[0].extra.get("x") for pool in formats.read_pools(target)]
    assert found == [None] * 5 + ["y"] * 3 + [None] * 91 + ["y"]


@pytest.mark.parametrize("name", ["o.csv", "o.tsv", "o.parquet", "o.run"])
def test_extras_may_have_names_that_jsonl_uses(tmp_path: Path, name: str) -> None:
    (tmp_path / "in.csv").write_text("question,answer,text,candidates,extra\nq,a,1,2,3\nq,b,,4,\n")
    scoring.score_file(str(tmp_path / "in.csv"), str(tmp_path / name), RANKER)
    if name != "o.run":
        (pool,) = formats.read_pools(tmp_path / name)
        found = [{key: one.extra[key] for key in one.extra if key != "score"} for one in pool.candidates]
        assert found == [{"text": "1", "candidates": "2", "extra": "3"}, {"candidates": "4"}]
    with pytest.raises(DemurError, match=r"in.csv: pool '1' has the extra 'text', a name this format uses"):
        scoring.score_file(str(tmp_path / "in.csv"), str(tmp_path / "o.jsonl"), RANKER)


def test_a_pool_that_follows_its_like_is_told_at_its_shard(source: Path) -> None:
    formats.write_pools(source, [*apart(50), apart(50)[-1], *apart(60)[50:]])
    target = str(source.parent / "o.csv")
    with pytest.raises(DemurError, match=f"^{target}: pool 'q49' follows a pool of the same id; they would"):
        scoring.score_file(str(source), target, Failing(at="q50"), pairs=10)


def test_two_pools_with_one_id_make_no_run(source: Path) -> None:
    formats.write_pools(source, [*made(3), *made(1)])
    with pytest.raises(DemurError, match="two pools have the id 'q0'"):
        scoring.score_file(str(source), str(source.parent / "o.run"), RANKER)
    with pytest.raises(DemurError, match="two pools have the id 'q0'"):
        scoring.write_scores(
            str(source.parent / "o.run"), scoring.score_stream(RANKER, formats.read_pools(source))
        )
    assert [path.name for path in source.parent.iterdir()] == ["in.jsonl"]
    assert scoring.score_file(str(source), str(source.parent / "o.jsonl"), RANKER).pools == 4


def test_each_stage_has_a_meter(source: Path) -> None:
    shown: list[tuple[str, int | None]] = []
    seen: dict[str, int] = {}

    def meter(label: str, unit: str, total: int | None) -> AbstractContextManager[scoring.Advance]:
        shown.append((label, total))
        return nullcontext(lambda pairs: seen.update({label: seen.get(label, 0) + pairs}))

    ranker = demur.ranker("bm25", stats="dataset")
    scoring.score_file(str(source), str(source.parent / "o.run"), ranker, meter=meter)
    assert shown == [("counting words", None), ("scoring", None), ("joining", 300)]
    assert set(seen.values()) == {300}


def run(*words: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "demur", "score", *map(str, words)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk to try")
def test_a_full_disk_behind_stdout_is_one_line(source: Path) -> None:
    command = [sys.executable, "-m", "demur", "score", str(source), "-o", "-"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    line = b"demur: No space left on device: the output; free space, or write elsewhere\n"
    assert (done.returncode, done.stderr) == (2, line)


def test_pipes_at_the_command_line(source: Path) -> None:
    done = run("-", "-o", source.parent / "o.jsonl", "--json", stdin=gzip.compress(source.read_bytes()))
    assert json.loads(done.stdout)["pairs"] == 300, done.stderr
    done = run(source, "-o", "-", "--ranker", "bm25(stats=dataset)")
    wanted = demur.ranker("bm25", stats="dataset").prepare(made(100)).score_pools(made(1))[0].tolist()
    assert [one["score"] for one in json.loads(done.stdout.splitlines()[0])["candidates"]] == wanted
    done = run("-", "-o", "-", "--ranker", f"bm25(stats='{source}')", stdin=source.read_bytes())
    assert [one["score"] for one in json.loads(done.stdout.splitlines()[0])["candidates"]] == wanted


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-", "-o", "-", "--json"], "-o - and --json both write to stdout"),
        (["-", "-o", "-", "--ranker", "bm25(stats=dataset)"], "reads its data twice"),
        (["-", "-o", "-", "--to", "squad"], "scores cannot be written as 'squad'"),
        (["-", "-o", "/dev/full", "--to", "jsonl"], "No space left on device"),
        ([f"{'a' * 260}.jsonl", "-o", "-"], ".jsonl; take a shorter name"),
    ],
)
def test_misuse_of_pipes_is_one_line(source: Path, words: list[str], message: str) -> None:
    done = run(*words, stdin=source.read_bytes())
    assert done.returncode == 2 and done.stdout == b""
    assert message in done.stderr.decode() and done.stderr.count(b"\n") == 1
