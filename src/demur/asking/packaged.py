"""The model that comes with demur: a small ranker that also reads, run without torch."""

from __future__ import annotations

from pathlib import Path

import demur
from demur.specs import parse

NAME = "mini"
FOLDER = Path(demur.__file__).parent / "models" / NAME


def there() -> bool:
    """Whether the model came with this copy of demur; a copy made from source alone may lack it."""
    return (FOLDER / "model.onnx").is_file()


def folder_named(spec: str) -> Path | None:
    """The packaged model's folder, if a spec such as ``mini`` or ``mini(threads=1)`` means that model."""
    if spec.partition("(")[0].strip() != NAME:
        return None
    other = parse(spec).settings.get("folder")
    return Path(str(other)) if other else FOLDER
