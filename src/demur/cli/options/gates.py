"""The options that say which gate is meant: the same for `ask` and `rank`."""

from __future__ import annotations

from typing import Annotated

import typer

GateOption = Annotated[
    str | None,
    typer.Option(
        "--gate",
        metavar="GATE.json",
        help="Answer only what this gate lets pass; none leaves out that of the ranker's folder.",
    ),
]
RiskOption = Annotated[
    float | None,
    typer.Option(help="Where there are gates for several risks, the share of answers that may be wrong."),
]
