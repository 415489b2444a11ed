"""The README.md of a model that `demur advise --save` wrote: why this method, and how good the others are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demur import __version__
from demur.advice.table import COLUMNS
from demur.training.recipes.model_card import use, versions

if TYPE_CHECKING:
    from demur.advice.advising import Advice


def text(advice: Advice) -> str:
    """The page, in Markdown."""
    taught = " and trained" if advice.method.trains else ""
    pools = f"{advice.labelled:,} labelled pools of {advice.pools:,}"
    parts = [
        f"# {advice.method.name}\n\nChosen{taught} by demur {__version__} from {pools}.",
        use(),
        f"## Why this method\n\n{advice.recommendation}\n\nMore labels: {advice.labels}.",
        _measured(advice),
        f"## How it was made\n\n`demur advise`, spec `{advice.method.spec}`; {versions()}. What each file "
        "must be is in `ranker.json`.",
    ]
    return "\n\n".join(parts) + "\n"


def _measured(advice: Advice) -> str:
    if not advice.rows:
        few = "Not measured: there were too few labels. Label some, and run `demur evaluate`."
        return f"## How good it is\n\n{few}"
    columns = [*COLUMNS, *(["answered"] if "risk" in advice.facts else [])]
    cells = [columns, ["---"] * len(columns), *(row.cells() for row in advice.rows)]
    said = (
        "Each method was measured on labelled pools that it had not seen, fold by fold; convention fixed. "
        "Expected is MAP with what the method got on other data counted in. The best of many methods looks a "
        "little better here than it is."
    )
    skipped = [f"\nNot tried: {trial.method.name} ({trial.skipped})." for trial in advice.skipped]
    table = [f"| {' | '.join(line)} |" for line in cells]
    return "\n".join([f"## How good it is\n\n{said}\n", *table, *skipped])
