"""The options that say which gate is meant: the same for `ask` and `rank`."""

from __future__ import annotations

from typing import Annotated

import typer

GateOption = Annotated[
    str | None,
    typer.Option(
        "--gate",
        metavar="GATE.json",
        help="Answer only if the confidence passes this gate. none: use no gate, not even the one in the "
        "ranker's folder or in the knowledge base.",
    ),
]
LapseOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="With --kb: the share of passages that may change after calibration; if more have changed, "
        "answers say that the promise no longer holds. Default: 0.2.",
    ),
]
RiskOption = Annotated[
    float | None,
    typer.Option(help="Where there are gates for several risks: the one for this share of wrong answers."),
]
