"""`demur export`: a network as one ONNX file that is ranked with on a CPU, without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from demur.cli.console import JsonFlag, emit, note, say, warnings_noted


def export(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A cross-encoder, encoder, mini, matching net or committee: a folder or a Hugging Face id.",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The folder to write.")],
    precision: Annotated[
        str, typer.Option(help="fp32, or int8 for transformers, which is the fastest.")
    ] = "",
    calibrate: Annotated[
        str,
        typer.Option(
            metavar="DATA",
            help="Texts like yours to calibrate int8 on, labelled or not: a dataset or a file.",
        ),
    ] = "example/questions",
    json: JsonFlag = False,
) -> None:
    """Export a model to ONNX, for use without torch; a transformer becomes several times as fast."""
    from dataclasses import asdict

    from demur import rankers
    from demur.export.export import export as write

    with warnings_noted():
        made = write(rankers.ranker(model), output, precision, calibrate)
    near = made.agreement
    if json:
        facts = {"output": str(made.folder), "ranker": made.ranker.spec, "precision": made.precision}
        facts |= {"fingerprint": made.ranker.fingerprint, "graph": made.graph}
        emit(facts | {"agreement": asdict(near)})
        return
    say(f"rank correlation {near.spearman:.4f}")
    say(f"largest difference of scores {near.largest:.2g}, mean {near.mean:.2g}")
    for what, share in near.of_quotes.items():
        say(f"{what} {share:.4f}")
    note(f"compared with the network on {near.pairs:,} pairs of {near.data}: {made.folder}")
