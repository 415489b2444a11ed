"""`demur calibrate`: a gate with a promise, what labels could promise, or a gate held against new data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from demur.cli.console import JsonFlag
from demur.cli.evaluation.readers import refuse_labels
from demur.cli.options.documents import (
    ExampleFlag,
    FromOption,
    KbOption,
    StemOption,
)
from demur.cli.risk import doubts, labelled, thresholds
from demur.cli.risk.promises import write_sets
from demur.cli.risk.without_labels import write_gate as without_labels_gate

RISK = 0.1
MEANING = "meaning"
USUAL = 0.95, "ltt", 0
"""The confidence, the method and the seed, where nothing is said."""


def calibrate(
    ranker: Annotated[
        str | None,
        typer.Argument(
            metavar="RANKER",
            help="A ranker such as bm25, or a folder. none, with files: keep the order of the search.",
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="Labelled pools: a dataset or a file. Default with --kb: the labels in the base.",
        ),
    ] = None,
    risk: Annotated[
        float | None, typer.Option(help="The share of answers that may be wrong. Default: 0.1.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence level of the promise.")] = 0.95,
    qualifier: Annotated[
        str | None,
        typer.Option(
            help="What computes the confidence. Default: margin, the best score minus the second; for the "
            "ranker meaning top, its probability."
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="ltt (learn then test), bonferroni or sgr. Others, for comparison only, keep no promise."
        ),
    ] = "ltt",
    grid: Annotated[
        str | None,
        typer.Option(help="Other pools, labelled or not: the thresholds to test are their confidences."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0, help="Without --grid: random seed of which labelled pools choose the thresholds to test."
        ),
    ] = 0,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            help="Where to write the gate; in a folder, gate.json. Default with --kb: in the base.",
        ),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Show which risks the labels can promise.")] = False,
    check: Annotated[
        str | None,
        typer.Option(metavar="GATE", help="Check whether DATA, labelled or not, contradicts this gate."),
    ] = None,
    sets: Annotated[
        float | None,
        typer.Option(
            "--set", metavar="RATE", help="Write answer sets with this rate, such as 0.9, in place of a gate."
        ),
    ] = None,
    doubt: doubts.DoubtOption = None,
    probes_from: doubts.ProbesOption = None,
    sources: FromOption = None,
    kb: KbOption = None,
    example: ExampleFlag = False,
    stem: StemOption = "english",
    without_labels: Annotated[
        bool,
        typer.Option(
            "--without-labels",
            help="Make a gate for an FAQ without labels: leave out some of its entries, and ask about them.",
        ),
    ] = False,
    apart: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="With --without-labels: the share of entries to leave out. Default: 0.1."
        ),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Find a confidence threshold that keeps the error rate below --risk; exit with 1 if there is none."""
    from demur.errors import UsageError
    from demur.files import check_apart, check_writable
    from demur.kb.files.documents import files_in

    if output is not None and not Path(output).is_dir():
        inside = [file for each in sources or () if each.is_dir() for file in files_in(each)]
        check_apart(output, *(each for each in (data, grid, *(sources or ()), *inside) if each))
    thresholds.check_wanted(RISK if risk is None else risk, confidence, method)
    if plan and check is not None:
        raise UsageError("--plan and --check exclude each other; choose one")
    if plan and (risk is not None or output is not None):
        what = "--plan shows what each risk would take, and writes no gate"
        raise UsageError(f"{what}; leave out --risk and -o, or --plan")
    ways = risk, output, qualifier, grid, sets, doubt, probes_from
    if check is not None and (any(each is not None for each in ways) or (confidence, method, seed) != USUAL):
        what = "--check asks whether new questions contradict a gate as it is, and writes nothing"
        raise UsageError(f"{what}; leave out -o and what gates are made by, such as --risk")
    files = bool(sources or example or kb is not None)
    if apart is not None and not without_labels:
        raise UsageError("--apart is the share of an FAQ that --without-labels leaves out; leave it out here")
    if stem != "english" and not files:
        raise UsageError("--stem is for files that are searched; name some with --from, or leave it out")
    place = output or kb
    if without_labels:
        unfit = (data, qualifier, check, sets, doubt, probes_from, grid)
        if ranker not in (None, MEANING) or plan or any(each is not None for each in unfit):
            what = "--without-labels takes only the files of an FAQ, and is for the ranker meaning"
            raise UsageError(f"{what}; name them with --from or --kb, and leave the rest out")
        thresholds.check_place("none", place)
        without_labels_gate(
            *(kb, sources, example, stem),
            risk=RISK if risk is None else risk,
            confidence=confidence,
            share=0.1 if apart is None else apart,
            seed=seed,
            output=place,
            json=json,
        )
        return
    if ranker is None or (data is None and kb is None):
        what = "a gate is made from a ranker and labelled questions"
        both = "name both" if kb is None else "with --kb write demur calibrate meaning --kb BASE"
        raise UsageError(f"{what}; {both}, or give an FAQ with --without-labels")
    if ranker == MEANING and not files:
        what = "meaning finds passages in files, and has no candidates to rank"
        raise UsageError(f"{what}; name the files with --from, or a knowledge base with --kb")
    qualifier = qualifier or ("top" if ranker == MEANING and files else "margin")
    if doubt is not None or probes_from is not None:
        if plan or check is not None or sets is not None or files or qualifier != "margin" or data is None:
            what = "--doubt trains a reader's doubt and makes a gate by it"
            raise UsageError(f"{what}; leave --plan, --check, --set, --from and --qualifier out")
        if output is not None and output.endswith(".json"):
            thresholds.check_place(ranker, output)
        wanted: dict[str, Any] = {"risk": risk, "confidence": confidence, "method": method, "seed": seed}
        doubts.train_doubt(ranker, data, doubt, probes_from, grid, output, json, wanted)
        return
    if sets is not None:
        gated = plan or (risk, grid, qualifier, confidence, method, seed) != (None, None, "margin", *USUAL)
        if gated or files or data is None:
            what = "--set takes a ranker, DATA and -o, and makes no gate"
            raise UsageError(f"{what}; leave out files and the options of gates, such as --risk")
        if output is not None:
            check_writable(output)
        write_sets(ranker, data, sets, output, json)
        return
    if not plan and check is None:
        thresholds.check_place(ranker, place)
    questions = labelled.open_labelled(ranker, data, grid, kb, sources, example, stem)
    how: dict[str, Any] = {"qualifier": qualifier, "method": method, "seed": seed}
    if check is not None:
        labelled.check(questions, check, json)
        return
    instead = f"demur calibrate {{reader}} {data or questions.data} --doubt learned --risk {risk or RISK:g}"
    refuse_labels(qualifier, questions.pools, instead)
    if plan:
        labelled.plan(questions, confidence, how, json)
    else:
        labelled.write_gate(questions, RISK if risk is None else risk, confidence, how, place, json)
