"""`demur calibrate` with labels: of data, or of a knowledge base and files; a gate, a plan, or a check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from demur.cli.console import meter, note, one_line
from demur.cli.evaluation.pools import tell_doubts
from demur.cli.options.documents import asked, kept_in, not_found, searched
from demur.cli.risk import thresholds
from demur.errors import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.rankers import Ranker
    from demur.risk.gates.calibration import Calibration
    from demur.types import Pool


class Labelled(NamedTuple):
    """The labelled pools, others that make the thresholds, and what ranks them."""

    spec: str
    ranker: str | Ranker
    pools: Sequence[Pool]
    data: str
    grid: Sequence[Pool] | None
    not_found: int | None = None
    """Of those asked of files, how many have no right passage there."""
    kept: bool = False
    """Whether they are a base's own, which are labelled there: some of those to come will only fit."""

    @property
    def told(self) -> dict[str, Any]:
        """What the JSON says of the labels."""
        return {} if self.not_found is None else {"labels_not_found": self.not_found}


def open_labelled(
    spec: str,
    data: str | None,
    grid: str | None,
    kb: str | None,
    sources: list[Path] | None,
    example: bool,
    stem: str,
) -> Labelled:
    """Pools of data as they are, or as a base or files answer them; without data, the labels in the base."""
    from demur.asking.gates.base_gate import made_on
    from demur.asking.gates.calibrating import judged_pools
    from demur.data import pools as load_pools

    pools: Sequence[Pool] = [] if data is None else load_pools(data)
    files = bool(sources or example or kb is not None)
    others: Sequence[Pool] | None = None if grid is None else load_pools(grid)
    tell_doubts(pools, data, files)
    if not files:
        return Labelled(spec, spec, pools, data or "", others)
    search = searched(kb, sources, example, stem, spec)
    placing: Sequence[Pool] = ()
    kept = data is None
    if kept:
        pools, fit = kept_in(search)
        if others is None:  # not all need be found, and none may be
            placing = judged_pools(search, fit)
    if kb is not None:
        data = made_on(search, "labels" if data is None else f"{data}, asked")
    pools, judged = list(pools), asked(search, pools)
    lost = not_found(search, pools, judged)
    if others is not None:
        placing = asked(search, others)
    found = placing if any(map(len, placing)) else None
    return Labelled(spec, search, judged, data or "", found, lost, kept)


def check(questions: Labelled, path: str, json: bool) -> None:
    """Hold a gate against the pools, judged by what a reader quotes if the gate was made so."""
    from demur import risk
    from demur.asking.gates.gate import check_search
    from demur.asking.searching import Search
    from demur.doubt.training import judged_for

    gate = risk.Gate.load(path)
    if isinstance(questions.ranker, Search):
        check_search(gate, questions.ranker)
    with meter("scoring", "pairs") as advance:
        pools = judged_for(gate, questions.spec, questions.pools)
        found = risk.check(gate, questions.ranker, pools, on_batch=advance)
    thresholds.checked(found, json, questions.told)


def plan(questions: Labelled, confidence: float, how: dict[str, Any], json: bool) -> None:
    """Show which risks the labels can promise."""
    from dataclasses import replace

    from demur.risk.gates.planning import plan_of

    tell_learnt(questions.ranker, questions.pools)
    ready = _ready(questions, how)
    found = plan_of(ready, confidence)
    if questions.kept:
        more = [
            _missing(questions, ready, each.risk, confidence) if each.coverage is None else None
            for each in found.levels
        ]
        levels = zip(found.levels, more, strict=True)
        found = replace(found, levels=tuple(replace(level, more=number) for level, number in levels))
    thresholds.planned(found, json, questions.told)


def write_gate(
    questions: Labelled, share: float, confidence: float, how: dict[str, Any], output: str | None, json: bool
) -> None:
    """Find the threshold and write the gate; exit with 1 if there is none."""
    from demur.errors import NoThreshold
    from demur.risk.gates.gate import Gate

    tell_learnt(questions.ranker, questions.pools)
    ready = _ready(questions, how)
    try:
        gate = Gate.of(ready, share, confidence)
    except NoThreshold as error:
        if questions.kept:
            more = _missing(questions, ready, share, confidence)
            error = NoThreshold(
                *(share, confidence, error.questions, error.lowest, more), fewest=error.fewest
            )
        thresholds.refuse(error, json, questions.told)
    thresholds.written(gate, thresholds.place_for(questions.spec, output), json, questions.told)


def tell_learnt(ranker: Ranker | str, pools: Sequence[Pool]) -> None:
    """Say so if the ranker has learnt from questions that are to certify it."""
    from demur import ranker as opened
    from demur.training.recipes.learnt_from import learnt_from

    for name, shared in learnt_from(opened(ranker), pools):
        note(
            f"{shared:,} of these {count_of(len(pools), 'question')} are in what the ranker has learnt from "
            f"({one_line(name)}), so the promise does not hold for others; calibrate on questions that were "
            "kept out of training"
        )


def _ready(questions: Labelled, how: dict[str, Any]) -> Calibration:
    """The labelled pools, scored and judged."""
    from demur.risk.gates.calibration import Calibration
    from demur.risk.qualifiers.base import qualifier
    from demur.risk.thresholds.control import STARTS

    with meter("scoring", "pairs") as advance:
        return Calibration.of(
            *(questions.ranker, questions.pools),
            how=qualifier(how["qualifier"]),
            method=how["method"],
            seed=how["seed"],
            starts=STARTS,
            grid=questions.grid,
            data=questions.data,
            on_batch=advance,
        )


def _missing(questions: Labelled, ready: Calibration, share: float, confidence: float) -> int | None:
    """How many more labels of a base a risk takes, as a server tells it; None if that is not known."""
    from demur.asking.gates.missing import missing_labels

    if not ready.evidence.tells_a_rate:
        return None
    return missing_labels(ready.evidence, len(questions.pools), share, 1 - confidence)
