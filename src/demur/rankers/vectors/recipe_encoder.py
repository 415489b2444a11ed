"""What bare ``encoder`` has meant in recipes since before one came with demur: all-MiniLM-L6-v2 in floats.

Stored results are of that, and a teacher may be slow. So recipes and trainers go on to mean it; everywhere
else bare ``encoder`` is the one that comes with demur.
"""

from __future__ import annotations

import re

from demur.embedders.encoders.loading import MINILM, PACKAGED
from demur.rankers.ensembles.fusion import RANKERS, WEIGHTS, Fusion
from demur.rankers.vectors.feedback import Feedback
from demur.specs import Spec, parse

_BARE = re.compile(r"(?<![\w./-])encoder(?![\w./(-])")
_NO_MODEL = re.compile(r"(?<![\w./-])encoder\((?![^()]*\bmodel=)\s*(?!\))")


def in_floats(spec: str) -> str:
    """The spec with MiniLM in floats, which needs torch, wherever an encoder's model is not said."""
    return _with(spec, MINILM)


def as_it_comes(spec: str) -> str:
    """The spec with the encoder that comes with demur wherever an encoder's model is not said."""
    return _with(spec, PACKAGED)


def _with(spec: str, model: str) -> str:
    name = spec.partition("(")[0].strip()
    settings = parse(spec).settings if name in (Fusion.name, Feedback.name) else {}
    if name == Fusion.name and not settings.get("rankers"):
        spec = str(Spec(name, {"weights": WEIGHTS, **settings, "rankers": RANKERS}))
    if name == Feedback.name:
        first = _with(str(settings.get("first", Feedback.first)), model)
        spec = str(Spec(name, {**settings, "first": first}))
    spec = _NO_MODEL.sub(f"encoder(model={model}, ", spec)
    return _BARE.sub(f"encoder(model={model})", spec)
