"""`demur plot`: pictures of risk and confidence, for a paper or a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.console import JsonFlag, emit, meter, note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from demur.risk import Predictions
    from demur.risk.gates.gate import Gate
    from demur.risk.predictions import BoolArray
    from demur.types import FloatArray, Pool

SHOWN = ("curve", "histogram", "reliability")


def plot(
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="A dataset such as wikiqa/test, or a file of labelled pools."),
    ],
    output: Annotated[str, typer.Option("-o", "--output", help="The picture to write: .svg or .png.")],
    show: Annotated[
        str, typer.Option(help="curve (risk over coverage), histogram (of the confidence), or reliability.")
    ] = "curve",
    ranker: Annotated[
        list[str] | None, typer.Option(help="A ranker; may be repeated. Default: bm25.")
    ] = None,
    qualifier: Annotated[
        list[str] | None, typer.Option(help="What computes the confidence; may be repeated. Default: margin.")
    ] = None,
    gate: Annotated[
        str | None, typer.Option(metavar="GATE.json", help="A gate to draw, with its threshold marked.")
    ] = None,
    calibrator: Annotated[
        str,
        typer.Option(
            help="For reliability, what makes a probability of the confidence: platt, isotonic, beta or "
            "temperature. none: it is one."
        ),
    ] = "platt",
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the bands and the folds.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Draw a risk-coverage curve, a histogram of the confidence, or a reliability diagram."""
    from demur.asking.gates.gate import open_gate
    from demur.data import binary
    from demur.data import pools as load_pools
    from demur.errors import DataError, UnknownName, UsageError, count_of
    from demur.evaluation.plots import confidence as plots

    if show not in SHOWN:
        raise UnknownName("picture", show, SHOWN)
    plots.form_of(output)
    opened = None if gate is None else open_gate(gate)
    if show != "reliability" and calibrator != "platt":
        raise UsageError(f"--calibrator is for --show reliability; leave it out of a {show}")
    if show == "histogram" and seed:
        raise UsageError("--seed draws bands and folds, and a histogram has none; leave it out")
    loaded = list(binary(load_pools(data)))
    pools = [pool for pool in loaded if not pool.candidates or any(each is not None for each in pool.labels)]
    if not any(map(len, pools)):
        raise DataError("no candidate has a label, so nothing can be drawn", path=data, fix="label some")
    if left := len(loaded) - len(pools):
        note(f"{count_of(left, 'pool')} without labels left out")
    with meter("scoring", "pairs") as advance:
        systems = _systems(pools, opened, ranker or [], qualifier or [], advance)
    first = next(iter(systems))
    if show == "curve":
        certified = {first: opened.threshold} if opened else None
        risk = opened.certificate.risk if opened else None
        plots.risk_coverage(output, systems, certified=certified, risk=risk, seed=seed)
    elif show == "reliability":
        chances = {name: _chances(each, calibrator, seed) for name, each in systems.items()}
        plots.reliability_diagram(output, chances)
    elif len(systems) > 1:
        raise UsageError("a histogram shows one ranker and one qualifier; name one of each, or a gate alone")
    else:
        threshold = opened.threshold if opened else None
        plots.confidence_histograms(output, systems[first], threshold=threshold, of=f"confidence: {first}")
    if json:
        emit({"output": output, "show": show, "data": data, "systems": list(systems)})
    else:
        note(f"picture written to {output}")


def _systems(
    pools: Sequence[Pool],
    gate: Gate | None,
    rankers: list[str],
    qualifiers: list[str],
    on_batch: Callable[[int], None],
) -> dict[str, Predictions]:
    """The answers of the gate's ranker, and of each ranker by each qualifier, under short names."""
    import demur
    from demur.asking.gates.gate import ranker_of
    from demur.risk import Predictions
    from demur.risk import qualifier as resolve_qualifier
    from demur.risk.gates.judging import scored
    from demur.specs import parse

    found: dict[str, Predictions] = {}
    if gate is not None:
        name = f"{parse(gate.ranker).name}, {parse(gate.qualifier).name} (gate)"
        found[name] = gate.predictions(ranker_of(gate), pools, on_batch=on_batch)
    elif not rankers:
        rankers = ["bm25"]
    for each in rankers:
        ready = demur.ranker(each).prepare(pools)
        scores = scored(ready, pools, on_batch)
        for way in qualifiers or ["margin"]:
            confidences = resolve_qualifier(way).out_of_fold(pools, scores)
            found[f"{each}, {way}"] = Predictions.of_pools(pools, scores, confidences)
    return found


def _chances(predictions: Predictions, calibrator: str, seed: int) -> tuple[FloatArray, BoolArray]:
    """The chances stated for the answers, by a calibrator that saw only other folds, and what came true."""
    from demur.risk.calibrators import cross_fit

    confidences = predictions.confidence[predictions.predicted]
    right = predictions.correct[predictions.predicted]
    return (
        confidences if calibrator == "none" else cross_fit(calibrator, confidences, right, seed=seed)
    ), right
