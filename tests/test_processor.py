from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import demur
from demur import processor, runtime
from demur.asking import packaged
from demur.errors import UsageError
from demur.types import Pool

COUNTING = re.compile(r"cpu_count|sched_getaffinity|available_parallelism")

EPYC = """processor : 0
vendor_id : AuthenticAMD
model name : AMD EPYC 9004 Processor
flags : fpu sse4_2 avx avx2 avx512f avx512_bf16 avx512_vnni

processor : 1
model name : another
flags : fpu
"""
XEON = """model name	: Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz
flags		: sse4_2 avx avx2 avx512f avx512_vnni avx512_bf16 amx_tile amx_int8
"""
ZEN = "model name : AMD EPYC 7251 8-Core Processor\nflags : sse4_2 avx avx2\n"
OLD = "model name : Nehalem\nflags : sse4_2\n"
ARM = "CPU implementer : 0x41\nFeatures : fp asimd asimddp bf16 i8mm\n"


def lay(folder: Path, **files: str) -> None:
    """Write files into a folder that stands for one of the system's."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def groups(proc: Path, cgroup: str, *mounts: str) -> Path:
    """A /proc that says which control groups this process is in, and where they are seen."""
    lines = [f"{n} 1 0:{n} {mount}" for n, mount in enumerate(mounts, 20)]
    lay(proc / "self", cgroup=cgroup, mountinfo="\n".join(["9 1 0:9 / / rw - ext4 disk rw", *lines]))
    return proc


@pytest.mark.parametrize(
    ("own", "above", "wanted"),
    [
        ("50000 100000", "max 100000", 1),  # half a core
        ("150000 100000", "max 100000", 2),
        ("200000 100000", "max 100000", 2),
        ("400000 100000", "250000 100000", 3),  # what stands above limits too
        ("max 100000", "100000 100000", 1),
        ("max 100000", "max 100000", sys.maxsize),
        ("nonsense", "", sys.maxsize),
    ],
)
def test_a_quota_is_the_smallest_on_the_way_up(tmp_path: Path, own: str, above: str, wanted: int) -> None:
    top = tmp_path / "cgroup"
    lay(top, cpu__max="25000 100000")  # beside the way: another group of the name
    proc = groups(tmp_path / "proc", "0::/a/b\n", f"/ {top}/seen rw - cgroup2 cgroup rw")
    lay(top / "seen" / "a", cpu__max=above)
    lay(top / "seen" / "a" / "b", cpu__max=own)
    assert processor.quota(proc) == wanted


def test_a_quota_of_the_first_kind_counts_too(tmp_path: Path) -> None:
    top = tmp_path / "cpu"
    own = "5:cpuset:/\n3:cpu,cpuacct:/docker/abc\n0::/elsewhere\n"
    mount = f"/docker/abc {top} ro - cgroup cgroup rw,cpu,cpuacct"  # a container sees its own as the whole
    proc = groups(tmp_path / "proc", own, f"/ {tmp_path}/cpuset rw - cgroup cgroup rw,cpuset", mount)
    assert processor.quota(proc) == sys.maxsize
    lay(tmp_path / "cpuset", cpu__cfs_quota_us="1", cpu__cfs_period_us="1")
    lay(top, cpu__cfs_quota_us="-1\n", cpu__cfs_period_us="100000\n")
    assert processor.quota(proc) == sys.maxsize
    lay(top, cpu__cfs_quota_us="120000\n", cpu__cfs_period_us="100000\n")
    assert processor.quota(proc) == 2


def test_a_group_outside_of_what_is_seen_is_looked_for_at_the_top(tmp_path: Path) -> None:
    proc = groups(tmp_path / "proc", "0::/../other\n", f"/ {tmp_path}/top rw - cgroup2 cgroup rw")
    lay(tmp_path / "top", cpu__max="50000 100000")
    assert processor.quota(proc) == 1
    assert processor.quota(tmp_path / "no-proc") == sys.maxsize
    for text in ("0::/\n\n", "nonsense\n"):
        assert processor.quota(groups(tmp_path / "odd", text, "one two")) == sys.maxsize


def test_threads_are_as_asked_or_the_fewest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(processor.THREADS, raising=False)
    monkeypatch.setattr(processor, "cores", lambda: 64)
    monkeypatch.setattr(processor, "_quota", lambda: 3)
    assert processor.threads() == 3
    monkeypatch.setattr(processor, "cores", lambda: 2)
    assert processor.threads() == 2
    for text, wanted in (("", 2), ("0", 2), (" 7 ", 7), ("1", 1)):
        monkeypatch.setenv(processor.THREADS, text)
        assert processor.threads() == wanted
    for text in ("lots", "-1", "1.5", "²"):
        monkeypatch.setenv(processor.THREADS, text)
        with pytest.raises(UsageError, match=r"^DEMUR_THREADS=.* means nothing; use 1 or more, or 0 for all"):
            processor.threads()
        processor.restrict()  # as demur is imported: nothing is raised there


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system tells no affinity")
def test_cores_are_those_that_this_process_may_run_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5, 7})
    assert processor.cores() == 3


def test_libraries_are_told_where_cores_alone_would_mislead_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "cores", lambda: 8)
    for name in processor.LIBRARIES:
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")  # fewer are somebody's choice
    monkeypatch.setenv("MKL_NUM_THREADS", "16")
    monkeypatch.setenv(processor.THREADS, "8")
    processor.restrict()
    assert [os.environ[name] for name in processor.LIBRARIES] == ["2", "", "16", ""]
    monkeypatch.setenv(processor.THREADS, "4")
    processor.restrict()
    assert [os.environ[name] for name in processor.LIBRARIES] == ["2", "4", "4", "4"]


class Torch:
    """What is asked of torch."""

    def __init__(self, threads: int, between: int) -> None:
        self.threads, self.between = threads, between

    def get_num_threads(self) -> int:
        return self.threads

    def get_num_interop_threads(self) -> int:
        return self.between

    def set_num_threads(self, number: int) -> None:
        self.threads = number

    def set_num_interop_threads(self, number: int) -> None:
        raise RuntimeError("they run already")


def test_torch_gets_no_more_threads_and_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(processor.THREADS, "4")
    many, few = Torch(64, 64), Torch(1, 1)
    processor.restrict_torch.__wrapped__(many)
    processor.restrict_torch.__wrapped__(few)
    assert (many.threads, few.threads) == (4, 1)
    processor.restrict_torch.cache_clear()
    processor.restrict_torch(many)
    many.threads = 5  # chosen since
    processor.restrict_torch(many)
    assert many.threads == 5
    processor.restrict_torch.cache_clear()


def test_processes_beside_each_other_have_one_thread_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(processor.THREADS, raising=False)
    with processor.alone():
        assert processor.threads() == 1
    assert processor.THREADS not in os.environ
    monkeypatch.setenv(processor.THREADS, "3")
    with processor.alone():
        pass
    assert processor.threads() == 3


COUNT = """
import os
def count():
    return len(os.listdir("/proc/self/task"))
"""
RANKED = """
import demur
ranker = demur.ranker("mini")
ranker.score_pools([demur.Pool.of("who baked?", [f"The baker baked {'bread ' * n}." for n in range(1, 120)])])
import numpy as np
np.ones((1500, 1500)) @ np.ones((1500, 1500))
print(count())
"""
LEARNT = """
import torch
import demur
from demur.errors import require
assert require("torch", extra="encoder") is torch
before = count()
some = torch.ones(600, 600, requires_grad=True)
(some @ some).sum().backward()
torch.ones(2_000_000).exp()
print(count() - before, torch.get_num_threads(), torch.get_num_interop_threads())
"""


def counted(code: str, **environment: str) -> list[int]:
    """What a process of its own prints, given no more of the environment than it must have."""
    kept = {n: v for n, v in os.environ.items() if n not in (*processor.LIBRARIES, processor.THREADS)}
    command = [sys.executable, "-c", COUNT + code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**kept, **environment})
    return [int(word) for word in done.stdout.split()]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="this system does not tell threads")
class TestThreadsInARealProcess:
    @pytest.mark.skipif(not packaged.there(), reason="the packaged model is not here")
    def test_mini_and_numpy_start_no_more_than_they_must(self) -> None:
        [number] = counted(RANKED, DEMUR_THREADS="1")
        assert number <= 3, "this one, one of onnxruntime's own, and one that tokenises"

    def test_torch_starts_none_even_if_it_was_there_first(self) -> None:
        pytest.importorskip("torch")
        assert counted(LEARNT, DEMUR_THREADS="1") == [0, 1, 1]


@pytest.mark.skipif(not packaged.there(), reason="the packaged model is not here")
def test_threads_of_zero_are_as_many_as_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Workers(ThreadPoolExecutor):
        def __init__(self, threads: int) -> None:
            asked.append(threads)
            super().__init__(threads)

    monkeypatch.setattr(runtime, "ThreadPoolExecutor", Workers)
    monkeypatch.setenv(processor.THREADS, "3")
    pools = [Pool.of("who baked?", ["It was baked" + " by them" * n for n in range(1, 60)])]
    scores = demur.ranker("mini").score_pools(pools)[0]
    assert (demur.ranker("mini(threads=2)").score_pools(pools)[0] == scores).all()
    monkeypatch.setenv(processor.THREADS, "1")
    assert (demur.ranker("mini").score_pools(pools)[0] == scores).all()
    assert asked == [3, 2]


def test_nobody_else_counts_cores() -> None:
    source = Path(demur.__file__).parent
    found = {path.name for path in source.rglob("*.py") if COUNTING.search(path.read_text("utf-8"))}
    assert found == {"processor.py"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (EPYC, "AVX-512 VNNI bf16 (AMD EPYC 9004)"),
        (XEON, "AVX-512 VNNI bf16 AMX (Intel Xeon Platinum 8481C)"),
        (ZEN, "AVX2 (AMD EPYC 7251 8-Core)"),
        (OLD, "SSE4.2 (Nehalem)"),
    ],
)
def test_a_processor_is_told_in_one_line(tmp_path: Path, text: str, wanted: str) -> None:
    lay(tmp_path, cpuinfo=text)
    assert processor.Processor(*processor.read_cpuinfo(tmp_path)).label == wanted


def test_other_processors_and_systems_have_a_name_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert processor.Processor(*processor.read_cpuinfo(tmp_path)).label == "aarch64"
    lay(tmp_path, cpuinfo=ARM)
    assert processor.Processor(*processor.read_cpuinfo(tmp_path)).label == "NEON dot i8mm bf16 (aarch64)"


def test_what_the_environment_takes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in processor.RESTRICTING:
        monkeypatch.delenv(name, raising=False)
    plain = processor.this_processor()
    assert not plain.restricted and plain.label
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "avx2")
    assert (
        processor.this_processor().label == f"{plain.label} ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2"
    )


@pytest.mark.parametrize(("name", "ours"), processor.KERNELS.items())
def test_torch_keeps_few_kernels_unless_told_otherwise(name: str, ours: str) -> None:
    pytest.importorskip("torch")
    code = "from demur.errors import require; require('torch', extra='encoder'); import os; "
    code += f"print(os.environ['{name}'])"
    plain = {key: value for key, value in os.environ.items() if key not in processor.KERNELS}
    for env, found in ((plain, ours), (plain | {name: "7"}, "7")):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, env=env
        )
        assert done.stdout.strip() == found, done.stderr
