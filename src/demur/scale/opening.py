"""A scorer by the names of its parts: what a worker loads once."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path

from demur.asking.gates.gate import is_for_files, open_gate
from demur.asking.reading import check_quotes, look_pools, reader_for
from demur.errors import UsageError
from demur.rankers import Ranker
from demur.rankers import ranker as ranker_named
from demur.scoring import Scorer


def open_scorer(
    ranker: str | Path | Ranker = "bm25",
    *,
    reader: str | Path | None = None,
    gate: str | Path | None = None,
    risk: float | None = None,
) -> Scorer:
    """A scorer with its models loaded: what ranks, and where they are named what quotes and a gate."""
    built = ranker_named(ranker)
    quoting = None if reader is None else reader_for(reader, built)
    also: dict[str, str] = {}
    if reader is not None and quoting is None:
        raise UsageError("whole sentences are quoted by demur ask alone; name a reader, such as mini")
    if isinstance(quoting, Ranker):
        also["reader"] = quoting.fingerprint
    judge = None if gate is None else open_gate(gate, risk)
    if judge is not None:
        if is_for_files(judge):
            what = "this gate is for questions to files, and promises nothing for given candidates"
            raise UsageError(f"{what}; make one with demur calibrate {built.name} LABELLED")
        judge.check_ranker(built)
        check_quotes(judge, quoting)
        said = json.dumps([judge.plain_threshold, dict(judge.certificate)], sort_keys=True)
        also["gate"] = hashlib.sha256(said.encode()).hexdigest()[:16]
    look = None if quoting is None else partial(look_pools, quoting)
    return Scorer(built, look, judge, one_pass=quoting is built, also=also)
