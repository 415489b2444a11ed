"""Which questions a trained ranker has learnt from, as far as its folder and the data still tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from demur import store
from demur.errors import DemurError
from demur.rankers.base import InFolder, Ranker
from demur.specs import Spelled
from demur.text import bare
from demur.training.recipes.stages import pools_of
from demur.types import Pool


def learnt_from(ranker: Ranker, pools: Sequence[Pool]) -> Iterator[tuple[str, int]]:
    """The data that the ranker has learnt from, with how many of these pools ask one of their questions.

    A dev set that chose among its nets counts too. What is not there any more is left out.
    """
    for name in dict.fromkeys(_data_of(ranker)):
        try:
            seen = {bare(pool.question) for pool in pools_of(name)}
        except (DemurError, OSError):
            continue
        if shared := sum(bare(pool.question) in seen for pool in pools):
            yield name, shared


def _data_of(part: Spelled) -> Iterator[str]:
    if isinstance(part, InFolder):
        for stage in store.learnt(part.folder).get("stages", ()):
            yield from filter(None, (stage["data"], stage["dev"]))
    for each in part.parts:
        yield from _data_of(each)
