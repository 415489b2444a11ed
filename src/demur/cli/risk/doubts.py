"""`demur calibrate READER DATA --doubt …`: a reader's doubt taught, kept in its folder, and gated by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from demur.cli.console import emit, meter, note, say, status
from demur.cli.risk import thresholds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from demur.types import Pool

DoubtOption = Annotated[
    str | None,
    typer.Option(
        "--doubt",
        metavar="DOUBT",
        help="Train a model of how sure the reader RANKER may be of its quotes, on DATA: learned or "
        "probe-cnn. With --risk, also make a gate by it.",
    ),
]
ProbesOption = Annotated[
    str | None,
    typer.Option(
        metavar="TRAIN", help="With --doubt probe-cnn: the questions that the reader was trained on."
    ),
]


def train_doubt(
    reader: str,
    data: str,
    doubt: str | None,
    probes_from: str | None,
    grid: str | None,
    output: str | None,
    json: bool,
    wanted: dict[str, Any],
) -> None:
    """Train the doubt; if a risk is asked for, make the gate on questions that it did not learn from."""
    from demur.data import pools
    from demur.doubt.training import DoubtTraining, quoted
    from demur.errors import NoThreshold, UsageError

    if doubt is None:
        raise UsageError("--probes-from needs --doubt; say which doubt to train")
    risk = wanted.pop("risk")
    home = _home(reader, output)
    if risk is None and (output is not None or grid is not None) and (home is None or grid is not None):
        raise UsageError("without --risk no gate is made: -o and --grid need one, such as --risk 0.1")
    training = DoubtTraining.of(doubt, reader, pools(data), pools(probes_from) if probes_from else (), home)
    rest: Sequence[Pool] = ()
    if risk is not None:
        training, rest = training.split(wanted["seed"])
    with status(f"training {training.how.name}"):
        kept = training.run()
    facts = {"doubt": kept.doubt.spec, "folder": str(training.place), "taught_on": len(training.pools)}
    learns = (
        f"trained on {len(training.pools):,} questions" if training.how.needs_fitting else "nothing to learn"
    )
    note(f"{kept.doubt.name}, {learns}: {training.place}")
    _warn_of_gates(training.place.parent, again=risk is not None and output in (None, home))
    if risk is None:
        emit(facts) if json else say(kept.doubt.spec)
        return
    with meter("scoring", "pairs") as advance:
        try:
            others = None if grid is None else quoted(training.reader, pools(grid))
            gate = training.gate(rest, risk, grid=others, data=data, on_batch=advance, **wanted)
        except NoThreshold as error:
            thresholds.refuse(error, json, facts)
    thresholds.written(gate, thresholds.place_for(reader, output), json, facts)


def _home(reader: str, output: str | None) -> str | None:
    """The folder that is named for a reader that lies in none, and for its doubt; None if it has its own."""
    from pathlib import Path

    from demur.errors import UsageError
    from demur.reading import reader as resolve_reader

    if resolve_reader(reader).folder:
        return None
    if output is None or output == "-" or Path(output).suffix == ".json":
        what = f"{reader} is not in a folder, and its doubt is saved beside it"
        raise UsageError(f"{what}; name a new folder for both, as in -o {reader.partition('(')[0]}-doubted/")
    return output


def _warn_of_gates(folder: Path, again: bool) -> None:
    """Say which gates in a reader's folder asked the doubt that lay there before and are not made again."""
    from demur.risk.gates.gate import Gate
    from demur.specs import parse

    for path in sorted(folder.glob("gate*.json")):
        asked, renewed = parse(Gate.load(path).qualifier), again and path.name == "gate.json"
        if asked.name == "reading" and asked.settings.get("by") == "kept" and not renewed:
            note(f"{path} was made with another doubt and is of no use now: calibrate again, or remove it")
