"""Questions asked of documents: passages are read, searched and quoted, or there is a reason why not."""

from __future__ import annotations

from demur.asking.gates.calibrating import calibrate
from demur.asking.gates.gate import Gate
from demur.asking.library import Library
from demur.asking.plain import as_plain
from demur.asking.session import Session, ask
from demur.kb.files.documents import read_documents
from demur.kb.passages import Passage
from demur.types import Verdict

__all__ = [
    "Gate",
    "Library",
    "Passage",
    "Session",
    "Verdict",
    "as_plain",
    "ask",
    "calibrate",
    "read_documents",
]
