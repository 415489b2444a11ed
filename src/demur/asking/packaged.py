"""What comes with demur: a small model that ranks and reads, run without torch, and gates."""

from __future__ import annotations

from pathlib import Path

import demur
from demur.embedders.encoders import packaged as encoder
from demur.specs import parse

NAME = "mini"
FOLDER = Path(demur.__file__).parent / "models" / NAME
MEANING = "meaning"
"""In place of a ranker: passages are found by words and by meaning, and ranked by their chance."""
MEANING_GATES = FOLDER.parent / MEANING
"""The gates for that, whatever files are asked; `tools.make_ask_gate` makes them."""
ROW_GATES = MEANING_GATES / "faq"
"""Those for what stands under a question of its own, as rows of an FAQ do."""


def there() -> bool:
    """Whether the model came with this copy of demur; a copy made from source alone may lack it."""
    return (FOLDER / "model.onnx").is_file()


def usual() -> str | None:
    """What ranks where nobody names a ranker: by meaning, or mini alone where the encoder did not come."""
    if not there():
        return None
    return MEANING if encoder.there() else NAME


def folder_named(spec: str) -> Path | None:
    """The packaged folder that a spec means, if it does: ``mini``, ``mini(threads=1)`` or ``meaning``."""
    if spec == MEANING:
        return MEANING_GATES
    if spec.partition("(")[0].strip() != NAME:
        return None
    other = parse(spec).settings.get("folder")
    return Path(str(other)) if other else FOLDER
