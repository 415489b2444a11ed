"""The options that say which gate is meant: the same for `ask` and `rank`."""

from __future__ import annotations

from typing import Annotated

import typer

GateOption = Annotated[
    str | None,
    typer.Option(
        "--gate",
        metavar="GATE.json",
        help="Answer only if the confidence passes this gate. none: do not use the gate in the ranker's "
        "folder.",
    ),
]
LapseOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="The share of a knowledge base's passages that may change before its promise lapses; 0.2 if not "
        "said.",
    ),
]
RiskOption = Annotated[
    float | None,
    typer.Option(help="The share of answers that may be wrong, where there are gates for several."),
]
