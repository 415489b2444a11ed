"""Figures in documents are those of results/, and statements follow from them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tools import claims, figures
from tools.figures import beside, by_seed, filled

from demur.errors import DataError
from demur.experiments.results.earlier import SIGNS, STALE

BM25, RANDOM = (f"scarce table1 | {row} | wikiqa answerable | MAP" for row in ("BM25", "random"))
MIXED = "committee table2 | mixed | wikiqa | MAP"
PROBE = "risk table4 | BERT, PROBE-CNN | SQuAD 2.0"
STUDENT = "committee table2 | student of seeds | wikiqa | MAP"
TANDA = "scan table2 | TANDA | wikiqa | MAP"
WRONG = "scan table6 | SCAN | lost more: a fifth of the training labels wrong | MAP"


def template(folder: Path, text: str, claimed: str = "", **figures: str) -> Path:
    """A page with the figures that stand beside it."""
    named = "".join(f'{name} = "{place}"\n' for name, place in figures.items())
    (folder / "page.toml").write_text(f"[figures]\n{named}{claimed}", "utf-8")
    (folder / "page.md").write_text(text, "utf-8")
    beside.cache_clear()
    claims._cell.cache_clear()
    return folder / "page.md"


def test_a_figure_is_filled_in(tmp_path: Path) -> None:
    said = filled(template(tmp_path, "# BM25\n\nIt has {bm25} there, or {bm25:bare}.\n", bm25=BM25))
    mean, _, interval = said.partition("has ")[2].partition(" there")[0].partition(" ")
    low, high = interval.strip("()").split("–")
    assert 0.5 < float(low) < float(mean) < float(high) < 0.8
    assert said.startswith("# BM25") and said.endswith(f" there, or {mean}.\n")


def test_a_figure_may_be_by_another_convention(tmp_path: Path) -> None:
    fixed, named, other = filled(
        template(
            tmp_path, "{a:bare} {b:bare} {c:bare}", a=BM25, b=f"{BM25} by fixed", c=f"{BM25} by semeval10"
        )
    ).split()
    assert fixed == named != other
    with pytest.raises(DataError, match="there is no figure"):
        filled(template(tmp_path, "{a}", a=f"{BM25} by magic"))


def test_a_figure_is_marked_where_that_is_asked_for(tmp_path: Path) -> None:
    text = "{mixed}~{mixed:marked}~{mixed:bare marked}~{mixed:gain marked}"
    said = filled(template(tmp_path, text, mixed=MIXED)).replace(f"<sup>{SIGNS[STALE]}</sup>", "")
    plain, marked, bare, gain = said.split("~")
    assert marked == f"{plain} ▼" and bare == f"{plain[:5]} ▼"
    assert -0.2 < float(gain[:6]) < 0 and gain.endswith(" ▼")


def test_a_figure_may_be_the_papers(tmp_path: Path) -> None:
    page = template(tmp_path, "{gain:paper}", gain=f"{PROBE} | gain E-AURC")
    assert filled(page) == "0.189"
    with pytest.raises(DataError, match="the paper has no figure"):
        filled(template(tmp_path, "{em:paper}", em=f"{PROBE} | EM"))


def test_a_figure_may_be_said_by_its_seeds(tmp_path: Path) -> None:
    mean, lowest, highest, count = re.fullmatch(
        r"(\S+): (\S+) to (\S+) over (\d) seeds", filled(template(tmp_path, "{t:bare}: {t:seeds}", t=TANDA))
    ).groups()  # type: ignore[union-attr]  # or it fails
    assert float(lowest) < float(mean) < float(highest) and int(count) > 1
    assert re.fullmatch(r"0\.\d+ with one seed", filled(template(tmp_path, "{s:seeds}", s=STUDENT)))


def test_a_figure_may_be_how_long_its_quickest_seed_took(tmp_path: Path) -> None:
    said = filled(template(tmp_path, "{t:minutes}", t=TANDA.replace("TANDA", "HyperQA")))
    assert re.fullmatch(r"\d+\.\d", said) and 0 < float(said) < 10


def test_a_curves_figure_says_how_far_its_seeds_lie_apart(tmp_path: Path) -> None:
    net, alone = (
        f"scarce figure1 | {row} | wikiqa 4 | MAP" for row in ("siamese pairwise", "encoder, no labels")
    )
    page = template(tmp_path, "{net}, {alone}, {net:bare}", net=net, alone=alone)
    assert re.fullmatch(r"0\.\d{3} ± 0\.\d{3}, 0\.\d{3}, 0\.\d{3}", filled(page))


@pytest.mark.parametrize(
    ("origin", "sign"),
    [("stale", "<sup>§</sup>"), ("dirty", "<sup>+</sup>"), ("earlier", "<sup>‡</sup>"), ("confirmed", "")],
)
def test_a_figure_says_that_it_is_out_of_date(
    origin: str, sign: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = template(tmp_path, "{bm25:bare}", bm25=BM25)
    known, plain = figures.at(page, BM25), filled(page)
    monkeypatch.setattr(figures, "_at", lambda *_: [replace(known, origin=origin)])
    assert filled(page) == plain + sign


def test_what_a_perturbation_costs_is_said_with_its_interval_and_how_sure_it_is(tmp_path: Path) -> None:
    said = filled(template(tmp_path, "{it:lost} {it:paper}", it=WRONG))
    sure = r"(one seed|\d seeds); (significant|not told apart)"
    assert re.fullmatch(rf"0\.\d+ (more|less) than TANDA \(\S+ to \S+; {sure}\) \S+", said)
    with pytest.raises(DataError, match="there is no figure"):
        filled(template(tmp_path, "{it:lost}", it=WRONG.replace("a fifth", "a sixth")))


def test_a_figure_may_be_a_count_of_what_is_shared_with_a_test_set(tmp_path: Path) -> None:
    of = {"some": "overlaps | mini | wikiqa/test | right", "every": "overlaps | all | wikiqa/test | right"}
    some, every = filled(template(tmp_path, "{some} of {every}", **of)).split(" of ")
    assert 0 < int(some) < int(every)
    assert filled(template(tmp_path, "{none}", none="overlaps | mini | antique/test | passages")) == "0"
    with pytest.raises(DataError, match="no 'words' of 'wikiqa/test' are counted"):
        filled(template(tmp_path, "{it}", it="overlaps | mini | wikiqa/test | words"))


def test_a_figure_may_be_of_one_pool(tmp_path: Path) -> None:
    places = {"all": TANDA, "one": f"{TANDA} of Q611", "by": f"{TANDA} of Q611 by fixed"}
    every, one, by = (
        float(each) for each in filled(template(tmp_path, "{all:bare} {one} {by}", **places)).split()
    )
    assert one == by and 0 < one <= 1 and one != every
    with pytest.raises(DataError, match="wikiqa has no pool 'none'; name one of its ids"):
        filled(template(tmp_path, "{it}", it=f"{TANDA} of none"))


@pytest.mark.parametrize("row", ["BM26", "siamese, never run"])
def test_what_was_never_run_has_no_figure(row: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no figure"):
        filled(template(tmp_path, "{it}", it=BM25.replace("BM25", row)))


def test_names_are_known_and_used(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'other' is no figure; name it in page\.toml"):
        filled(template(tmp_path, "{bm25} {other}", bm25=BM25))
    with pytest.raises(DataError, match="'random' is used nowhere"):
        filled(template(tmp_path, "{bm25}", bm25=BM25, random=RANDOM))
    with pytest.raises(DataError, match="a figure cannot be said 'loud'"):
        filled(template(tmp_path, "{bm25:loud}", bm25=BM25))


def broken(folder: Path, *holds: str, says: str = "BM25 is better") -> list[str]:
    claimed = f'\n[[claim]]\nsays = "{says}"\nholds = {list(holds)}\n'
    places = {"bm25": BM25, "random": RANDOM, "mixed": MIXED, "student": STUDENT, "probe": f"{PROBE} | AURC"}
    places |= {"tanda": TANDA, "wrong": WRONG}
    text = "So BM25 is\n better: {bm25} {random} {mixed} {student} {probe} {tanda} {wrong:lost}."
    return claims.broken(template(folder, text, claimed, **places))


@pytest.mark.parametrize(
    "check",
    [
        *(
            "bm25 > random",
            "bm25 >> random",
            "bm25 > .5",
            ".9 > bm25",
            "bm25 within .3 of random",
            "bm25 beyond .01 of random",
            "bm25 ~ bm25",
        ),
        *("low bm25 > .5", ".8 > high bm25", "low bm25 > high random", "probe > paper probe"),
        *("bm25 >> .5", "tanda > worst tanda", "best tanda > tanda", "best random > .3"),
    ],
)
def test_a_claim_that_follows_is_let_alone(check: str, tmp_path: Path) -> None:
    assert broken(tmp_path, check) == []


@pytest.mark.parametrize(
    "check",
    [
        *("random > bm25", "random >> bm25", "bm25 > .9", "bm25 within .01 of random", "bm25 ~ random"),
        "bm25 beyond .3 of random",
        *("low bm25 > bm25", "bm25 > high bm25", "bm25 >> bm25", "paper probe > probe"),
        *("bm25 ~ .5", "bm25 >> .9", "worst tanda > tanda", "tanda > best tanda"),
    ],
)
def test_a_claim_that_does_not_follow_is_told_with_its_figures(check: str, tmp_path: Path) -> None:
    [line] = broken(tmp_path, "bm25 > random", check)
    assert line.startswith(f"page.md: 'BM25 is better' does not follow: {check} (") and "0." in line


def test_a_claim_is_words_of_the_page_and_tells_a_single_seed(tmp_path: Path) -> None:
    [line] = broken(tmp_path, "bm25 > random", says="BM25 is best")
    assert line == "page.md: 'BM25 is best' stands nowhere in the template"
    [line] = broken(tmp_path, "student > .5")
    assert "rests on one seed (student) and does not say so" in line
    assert "does not say so" not in "".join(broken(tmp_path, "student > .5", says="one seed of BM25"))


def test_what_a_perturbation_costs_can_be_claimed(tmp_path: Path) -> None:
    lines = broken(tmp_path, "wrong >> -.5", "high wrong > wrong", says="{wrong:lost}")
    assert lines == [], "of how many seeds it is the figure itself says"
    lines = broken(tmp_path, "wrong ~ -.5", "low wrong > wrong", says="{wrong:lost}")
    assert [line.partition("does not follow: ")[2][:14] for line in lines] == [
        "wrong ~ -.5 (w",
        "low wrong > wr",
    ]


def test_seeds_that_both_have_are_tested(tmp_path: Path) -> None:
    """SCAN has five seeds and SCAN without a part three: what the others came to is no part of the test."""
    figures = {"scan": TANDA.replace("TANDA", "SCAN"), "part": TANDA.replace("TANDA", "w/o FD")}
    page = template(tmp_path, "{scan} {part}", "", **figures)
    cells = [claims._cell(page, name) for name in figures]
    ours = [by_seed(cell) for cell in cells]
    assert len(ours[0]) != len(ours[1]), "or take two others"
    means = [sum(each.values()) / len(each) for each in claims._values(cells)]
    shared = range(min(map(len, ours)))
    assert means == pytest.approx([sum(each[seed] for seed in shared) / len(shared) for each in ours])
    alone = [sum(each.values()) / len(each) for cell in cells for each in claims._values([cell])]
    assert alone == pytest.approx([sum(each) / len(each) for each in ours])


def test_a_check_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    for wrong in ("bm25 < random", "bm25", "", "bm25 within of random"):
        with pytest.raises(DataError, match="is no check; write such as: a > b"):
            broken(tmp_path, wrong)
    with pytest.raises(DataError, match="no pools in common"):
        broken(tmp_path, "bm25 >> probe")


def test_what_findings_say_of_the_robustness_suite_is_so() -> None:
    """Its results are no cells of a table, which a claim could name."""
    said = " ".join((figures.ROOT / "docs" / "templates" / "findings.md").read_text("utf-8").split())
    suite = json.loads((figures.ROOT / "results" / "robust" / "wikiqa" / "robust.json").read_text("utf-8"))
    of = {
        family: [one for one in suite["findings"] if one["family"] == family]
        for family in ("beside", "overlap")
    }
    assert "one network each, the two are not told apart under any of the changes, with Holm's" in said
    beside_tanda = [one for one in of["beside"] if one["ranker"] == "scan"]
    assert beside_tanda and min(one["adjusted"] for one in beside_tanda) >= claims.LEVEL
    assert (
        "Without it SCAN would be below TANDA where a wrong answer that repeats the question is added" in said
    )
    apart = {one["condition"]: one["high"] < 0 for one in beside_tanda if one["p"] < claims.LEVEL}
    assert apart == {"question echoed": True}
    assert "All models, `mini` too, are far better where shared words point to a right answer" in said
    assert len(of["overlap"]) == len(suite["rankers"]) and all(one["high"] < 0 for one in of["overlap"])
