"""What `--json` makes each verb print, as types: `make docs` writes docs/schemas/ from them.

They are for type checkers and tools, as they import more than a verb needs. A key that is `NotRequired` is
left out where there is nothing to say; null is said where a value is not known.
"""

from __future__ import annotations

from typing import Any

from demur.advice.labelling import Suggestion
from demur.cli.printed import answers, figures, places, promises
from demur.data.checking import Finding
from demur.experiments.results.verifying import Again
from demur.experiments.tables import Cell
from demur.risk.gates.planning import Plan

VERBS: dict[str, tuple[Any, ...]] = {
    "ask": (answers.Ask,),
    "rank": (answers.Rank,),
    "score": (answers.Score, answers.ScoreFolder),
    "evaluate": (figures.Evaluate, figures.EvaluateSuite, figures.EvaluateCases),
    "compare": (figures.Compare,),
    "train": (figures.Train,),
    "export": (figures.Export,),
    "calibrate": (
        promises.Gate,
        promises.NoGate,
        Plan,
        promises.PlanOfFiles,
        promises.Check,
        promises.Sets,
        promises.Doubt,
        promises.DoubtAndGate,
        promises.DoubtAndNoGate,
        promises.GateWithoutLabels,
        promises.NoGateWithoutLabels,
    ),
    "advise": (figures.Advise, list[Suggestion]),
    "plot": (figures.Plot,),
    "reproduce": (list[Cell], list[Again]),
    "kb add": (places.Base,),
    "kb update": (places.Base,),
    "kb remove": (places.Base,),
    "kb status": (places.BaseStatus,),
    "kb rebuild": (places.Base,),
    "data list": (list[places.Dataset],),
    "data show": (places.Dataset, places.Split),
    "data check": (list[Finding],),
    "vectors train": (places.VectorsWritten,),
    "vectors show": (places.VectorsShown,),
    "vectors convert": (places.VectorsWritten,),
}
"""Each verb that takes `--json`, and what it prints: one of these."""
