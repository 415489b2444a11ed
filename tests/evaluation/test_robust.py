"""The robustness suite."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from demur.cli.main import app
from demur.data import Pools
from demur.errors import DataError, MissingExtra, UsageError
from demur.evaluation.robust import Finding, robustness, write_page
from demur.rankers import Ranker, ranker
from demur.types import FloatArray, Pool

TEXTS = [
    ("Who painted the old bridge?", "Anna painted the bridge in 1910.", "The old bridge is painted and old."),
    (
        "How long did the siege last?",
        "It lasted 12 weeks, and Paul did not like it.",
        "A long siege did not last.",
    ),
    ("Where is the library?", "It is beside the church, which does not close.", "Libraries lend books."),
    ("What do penguins eat?", "Penguins eat fish, about 7 a day.", "What do they not do? Penguins walk."),
]
POOLS = [
    Pool.of(question, [right, wrong, "Nothing is known."], [1, 0, 0], id=str(n))
    for n, (question, right, wrong) in enumerate(TEXTS)
]


@dataclass(frozen=True)
class Oracle(Ranker):
    """Knows the right answers by their first and last word, and nothing else of them."""

    name: ClassVar[str] = "oracle"
    alone: ClassVar[bool] = True

    def score(self, question: str, answers: Sequence[str]) -> FloatArray:
        return np.array([float(any(a[-6:] == right[-6:] for _, right, _ in TEXTS)) for a in answers])


def found(name: str, condition: str, measure: str = "P@1") -> Finding:
    suite = robustness({name: ranker(name)}, POOLS)
    (one,) = [f for f in suite.findings if (f.condition, f.measure) == (condition, measure)]
    return one


@dataclass(frozen=True)
class Placed(Oracle):
    """One that lies in a folder."""

    folder: str = "/here/and/nowhere/else"
    depth: int = 3


def test_a_ranker_is_known_by_its_settings_and_not_by_where_it_lies() -> None:
    assert robustness({"mine": Placed()}, POOLS, seeds=1).rankers == {"mine": "oracle(depth=3)"}


def test_overlap_is_fooled_by_an_echo_and_by_nothing_that_keeps_its_words() -> None:
    assert found("overlap", "question echoed").after == 0
    assert found("overlap", "question echoed", "echo on top").after == 1
    assert found("overlap", "roles swapped").after == pytest.approx(0.5)
    assert found("length", "30 % of questions").difference == 0


def test_hard_questions_are_those_where_shared_words_mislead() -> None:
    (split,) = [
        f for f in robustness([ranker("overlap(weighted=true)")], POOLS).findings if f.family == "overlap"
    ]
    assert (split.before, split.after, split.p) == (1, 0, None)


def test_same_meaning_counts_only_pools_that_an_edit_changes() -> None:
    assert found("bm25", "don't for do not").pools == 2
    assert found("bm25", "seven for 7").pools == 2
    assert found("bm25", "other first names").pools == 2


def test_changed_numbers_should_make_a_right_answer_worse() -> None:
    assert found("length", "other numbers", "score falls").after == 0.5  # it takes no notice
    assert found("length", "other numbers", "score falls").pools == 3


def test_holm_is_over_the_whole_suite_and_rankers_stand_side_by_side() -> None:
    suite = robustness({"a": ranker("overlap"), "b": Oracle()}, POOLS, seeds=2)
    paired = [one for one in suite.findings if one.p is not None]
    assert all(one.adjusted is not None and one.adjusted >= (one.p or 0) for one in paired)
    assert min(one.adjusted or 0 for one in paired) == pytest.approx(
        min(1, len(paired) * min(one.p or 0 for one in paired))
    )
    beside = [one for one in suite.findings if one.family == "beside"]
    assert {one.ranker for one in beside} == {"b"}
    echo = {
        (f.ranker, f.family): f
        for f in suite.findings
        if (f.condition, f.measure) == ("question echoed", "P@1")
    }
    assert echo["b", "beside"].before == echo["a", "echo"].after
    assert echo["b", "beside"].after == echo["b", "echo"].after == 1


def test_a_ranker_that_looks_at_each_pair_alone_scores_each_once() -> None:
    seen: list[tuple[str, str]] = []

    @dataclass(frozen=True)
    class Counting(Oracle):
        def score(self, question: str, answers: Sequence[str]) -> FloatArray:
            seen.extend((question, answer) for answer in answers)
            return super().score(question, answers)

    robustness([Counting()], POOLS)
    assert len(seen) == len(set(seen))


def test_no_usable_pool_is_one_clear_line() -> None:
    with pytest.raises(DataError, match="no pool has both"):
        robustness([ranker("bm25")], [Pool.of("q", ["a"], [1])])


def test_the_page_has_all_tables_and_the_picture(tmp_path: Path) -> None:
    suite = robustness([ranker("bm25"), ranker("overlap")], POOLS, seeds=1, data="own")
    page = write_page(suite, tmp_path / "out").read_text()
    assert page.count("\n## ") == 6
    assert "robust.svg" in page
    assert (tmp_path / "out" / "robust.svg").read_text().startswith("<?xml")
    assert json.loads((tmp_path / "out" / "robust.json").read_text())["pools"] == 4


def test_the_command_shows_and_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from typer.testing import CliRunner

    rows = [
        {
            "id": pool.id,
            "question": pool.question,
            "candidates": [{"id": c.id, "text": c.text, "label": c.label} for c in pool.candidates],
        }
        for pool in POOLS
    ]
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    ran = CliRunner().invoke(
        app, ["evaluate", str(file), "--suite", "robust", "--ranker", "bm25; overlap", "--seeds", "1"]
    )
    assert ran.exit_code == 0, ran.output
    assert "roles swapped" in ran.output
    wrong = CliRunner().invoke(app, ["evaluate", str(file), "--suite", "nope", "--ranker", "bm25"])
    assert wrong.exit_code != 0


def called(*words: str) -> None:
    from typer.testing import CliRunner

    ran = CliRunner().invoke(app, words)
    if ran.exception is not None:
        raise ran.exception


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-m", "AP", "--run", "nothere"), "a suite has its own measures .*; leave out --run, --measures"),
        (("--convention", "scan", "--seed", "3"), "leave out --convention, --seed"),
        (("-o", "FILE"), "is a file; name a folder"),
    ],
)
def test_options_that_a_suite_does_not_heed_are_refused(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    given = [str(tmp_path / "file") if word == "FILE" else word for word in words]
    with pytest.raises(UsageError, match=said):
        called("evaluate", "example/questions", "--suite", "robust", "--ranker", "bm25", *given)


def test_a_page_without_its_picture_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"demur\[report\]"):
        words = "evaluate", "example/questions", "--suite", "robust", "--ranker", "bm25"
        called(*words, "-o", str(tmp_path / "page"))
    assert not (tmp_path / "page").exists()


@dataclass(frozen=True)
class Counts(Ranker):
    """Likes the year 1910, the number 12, and words of the question."""

    name: ClassVar[str] = "counts"

    def score(self, question: str, answers: Sequence[str]) -> FloatArray:
        return np.array([5.0 * ("1910" in a or "12" in a or " 7 " in a) for a in answers])


def test_a_ranker_that_reads_numbers_sees_that_they_are_others() -> None:
    suite = robustness([Counts()], POOLS, seeds=3)
    (one,) = [f for f in suite.findings if f.condition == "other numbers"]
    assert one.after > 0.9
    assert 0 < one.low <= one.difference <= one.high  # above what taking no notice comes to


def test_the_interval_of_hard_less_easy_holds_their_difference() -> None:
    more = [
        Pool.of(f"what is a {w}?", [f"what is a {w} for", f"it is {w}y"], [n % 2, 1 - n % 2], id=w)
        for n, w in enumerate("abcdefghijkl")
    ]
    (split,) = [f for f in robustness([ranker("length")], more).findings if f.family == "overlap"]
    assert split.before == 1 and split.after == 0
    assert split.low <= split.difference <= split.high
    assert split.high < 0


def test_the_page_says_where_no_question_is_easy_or_none_is_hard(tmp_path: Path) -> None:
    page = write_page(robustness([ranker("bm25")], [POOLS[1], POOLS[2]][:1]), tmp_path / "o").read_text()
    assert "no question is easy, or none is hard" in page


def test_what_is_right_is_what_the_data_say() -> None:
    graded = [Pool.of(pool.question, pool.answers, [3, 1, 0], id=pool.id) for pool in POOLS]
    named = Pools("graded", (), lambda: iter(graded), 2)
    as_it_is, by_grades = (robustness({"overlap": ranker("overlap")}, each) for each in (POOLS, named))
    assert as_it_is.findings == by_grades.findings
