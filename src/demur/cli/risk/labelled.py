"""`demur calibrate` with labels: of data, or of a knowledge base and files; a gate, a plan, or a check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from demur.cli.console import meter
from demur.cli.options.documents import asked, kept_in, not_found, searched
from demur.cli.risk import thresholds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.rankers import Ranker
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
    others: Sequence[Pool] | None = None if grid is None else load_pools(grid)
    if not (sources or example or kb is not None):
        return Labelled(spec, spec, pools, data or "", others)
    search = searched(kb, sources, example, stem, spec)
    placing: Sequence[Pool] = ()
    if data is None:
        pools, fit = kept_in(search)
        if others is None:  # not all need be found, and none may be
            placing = judged_pools(search, fit)
    if kb is not None:
        data = made_on(search, "labels" if data is None else f"{data}, asked")
    pools, judged = list(pools), asked(search, pools)
    lost = not_found(search, pools, judged)
    if others is not None:
        placing = asked(search, others)
    return Labelled(spec, search, judged, data or "", placing if any(map(len, placing)) else None, lost)


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
    from demur import risk

    with meter("scoring", "pairs") as advance:
        found = risk.plan(
            *(questions.ranker, questions.pools, confidence), grid=questions.grid, on_batch=advance, **how
        )
    thresholds.planned(found, json, questions.told)


def write_gate(
    questions: Labelled, share: float, confidence: float, how: dict[str, Any], output: str | None, json: bool
) -> None:
    """Find the threshold and write the gate; exit with 1 if there is none."""
    from demur import risk
    from demur.errors import NoThreshold

    with meter("scoring", "pairs") as advance:
        try:
            gate = risk.calibrate(
                *(questions.ranker, questions.pools, share, confidence),
                data=questions.data,
                grid=questions.grid,
                on_batch=advance,
                **how,
            )
        except NoThreshold as error:
            thresholds.refuse(error, json, questions.told)
    thresholds.written(gate, thresholds.place_for(questions.spec, output), json, questions.told)
