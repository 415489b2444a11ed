"""What things that a recipe makes are known by: what they are made from, and not what they came to.

They lie in the cache, under a hash of that. So a key can be told before they are made, and is the same on
every machine, though no two processors round alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from demur import cache, precision, registry
from demur.embedders import embedder
from demur.embedders.encoders.loading import content
from demur.errors import DemurError, UsageError
from demur.files import sha256
from demur.rankers import ranker
from demur.rankers.vectors.recipe_encoder import in_floats
from demur.specs import Spec, listed, parse
from demur.training import Trainer

_MADE = r"(?:models|vectors)[/\\][0-9a-f]{16}"


LEARNING = {"bidaf": "fp32"}
"""In which precision trainers learn in experiments, where it is not said: bf16 but for these."""


@contextmanager
def as_kept() -> Iterator[None]:
    """A block in which precision=auto is what results were kept with, so that they depend on no processor.

    Keys count ``auto`` of rankers, readers and encoders as fp32, too.
    """
    with precision.auto_is(learning="bf16", reading="fp32"):
        yield


def anywhere(spec: str) -> str:
    """A spec without the place of the cache, where it names a model or vectors that lie there."""
    return re.sub(re.escape(str(cache.root())) + rf"[/\\](?={_MADE})", "", spec)


def depends(by: Trainer) -> str:
    """What a trainer's result depends on besides its settings, and besides what these name in the cache."""
    said = anywhere(by.known_by)
    return by.depends if said == by.known_by else " ".join(_named(parse(said)))


def _named(wanted: Spec) -> Iterator[str]:
    for value in wanted.settings.values():
        if isinstance(value, str):
            for part in listed(value):
                yield from _behind(part)


def _behind(part: str) -> Iterator[str]:
    """What a part of a spec stands for: editions of trainers, hashes of all that is not made here."""
    try:
        wanted = parse(part)
    except UsageError:  # a path, or a word
        wanted = Spec("", {})
    if wanted.name in registry.names("trainer"):
        yield f"{wanted.name} {registry.find('trainer', wanted.name).edition}"
        yield from _named(wanted)
    elif re.search(_MADE, part):
        yield from _named(wanted)
    elif wanted.name in registry.names("embedder"):
        yield embedder(part).fingerprint
    elif wanted.name in registry.names("ranker"):
        try:
            yield ranker(in_floats(part)).fingerprint
        except DemurError:  # a word that is called as a ranker is
            return
    elif Path(part).is_dir():
        yield content(Path(part))
    elif Path(part).is_file():
        yield sha256(Path(part))
