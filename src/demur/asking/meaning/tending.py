"""The vectors that passages lack: made where they are few, told where they are many."""

from __future__ import annotations

import logging

from demur.asking.library import MOST, Library
from demur.asking.meaning.finding import maker
from demur.asking.packaged import MEANING
from demur.errors import DemurError, UsageError
from demur.kb.base import Passages
from demur.kb.folder import KnowledgeBase

_SHARE = 0.2  # of passages without vectors, with which a gate still says something
_log = logging.getLogger(__name__)


def tend(library: object) -> None:
    """Make the vectors that a base lacks, if they are few and it may be written to; else warn."""
    if not isinstance(library, KnowledgeBase):
        return
    if 0 < _lacking(library) <= MOST and library.embedder in ("", maker().fingerprint):
        try:
            library.embed()
        except DemurError as error:
            _log.info("no vectors were made: %s", error)
    if lacking := _lacking(library):
        which = f"{lacking:,} of {len(library):,} passages are found by words alone"
        _log.warning("%s, as they have no vectors yet; demur kb update makes them (Python: embed())", which)


def check_vectors(library: Passages, ranker: object) -> None:
    """Raise an error where so many passages lack vectors that no chance of being right can be trusted."""
    lacking = _lacking(library) if ranker == MEANING else 0
    if lacking > _SHARE * len(library):  # while they are being made, each question is judged by what there is
        what = f"a gate holds where passages have vectors, which {lacking:,} of {len(library):,} lack"
        fix = (
            "keep them in a knowledge base (demur kb add)"
            if isinstance(library, Library)
            else "demur kb update"
        )
        raise UsageError(f"{what}; to make them: {fix}")


def still_lacks_vectors(library: object, ranker: object) -> bool:
    """Whether vectors are being made, and so many are missing yet that no gate can promise anything."""
    if ranker != MEANING or not isinstance(library, KnowledgeBase) or not library.tended:
        return False
    return _missing(library) > _SHARE * len(library)


def _lacking(library: object) -> int:
    """How many passages have no vectors, unless somebody is making them."""
    if isinstance(library, Library):
        return 0 if library.has_vectors else len(library)
    return 0 if not isinstance(library, KnowledgeBase) or library.tended else _missing(library)


def _missing(library: KnowledgeBase) -> int:
    return len(library) - (library.embedded if library.embedder == maker().fingerprint else 0)
