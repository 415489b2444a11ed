"""From nets that match words, or a committee, to a folder that needs no torch."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from demur import __version__
from demur.errors import UsageError
from demur.files import written
from demur.rankers import Ranker, open_model
from demur.rankers.committee import Committee
from demur.rankers.match_nets import FACTS, Match
from demur.rankers.onnx import MODEL
from demur.rankers.onnx_match import OnnxMatch
from demur.rankers.opening import save
from demur.rankers.word_numbers import VECTORS, Lexicon
from demur.training import onnx_match
from demur.training.export import Exported, card, check_near, compared, some
from demur.training.export import export as export_network

Files = dict[str, tuple[Path, int]]
"""Files of vectors that lie there, by their fingerprint, and when they were written."""


def export(ranker: Match | Committee, folder: Path, precision: str, calibrate: str) -> Exported:
    """A net as a folder of the ranker ``onnx-match``; or a committee of exported members.

    Members that are cross-encoders have the `precision` that is asked for; those that need no torch stay.
    """
    pools = some(calibrate)
    if isinstance(ranker, Match) and precision == "int8":
        raise UsageError(f"{ranker.name} is exported in fp32 alone, which is small and fast; leave int8 out")
    with written(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent)
    with temporary as beside:
        inside, files = Path(beside), Files()
        if isinstance(ranker, Committee):
            places = [inside / f"member-{number}" for number in range(1, 1 + len(ranker.members))]
            members = [
                _member(member, place, precision, calibrate, files)
                for member, place in zip(ranker.members, places, strict=True)
            ]
            found: Ranker = ranker.holding(members)
        else:
            found = _net(ranker, inside, files)
        agreement = compared(ranker, found, pools, calibrate)
        exact = precision == "fp32" or all(isinstance(one, Match) for one in _parts(ranker))
        if exact:
            check_near(agreement, folder)
        said = "fp32" if exact else precision or "int8"
        made: dict[str, Any] = {"from": ranker.fingerprint, "precision": said, "graph": "torch"}
        made |= {"demur": __version__, "agreement": asdict(agreement)}
        what = "committee" if isinstance(ranker, Committee) else ranker.name
        save(found, folder, made, {"README.md": card(said, agreement, what)})
    return Exported(folder, open_model(folder), said, "torch", agreement)


def _parts(ranker: Ranker) -> tuple[Ranker, ...]:
    return ranker.members if isinstance(ranker, Committee) else (ranker,)


def _member(member: Ranker, place: Path, precision: str, calibrate: str, files: Files) -> Ranker:
    """The exported member of a committee; the same, if it can do without torch."""
    if isinstance(member, Match):
        place.mkdir()
        return _net(member, place, files)
    if member.name == "cross-encoder":
        return export_network(member, place, precision, calibrate).ranker
    if member.name in TORCH:
        raise UsageError(f"the member {member.spec} needs torch, and {member.name} cannot be exported")
    return member


TORCH = ("bidaf", "encoder", "joint", "span-reader")


def _net(ranker: Match, place: Path, files: Files) -> OnnxMatch:
    """The net in a folder; vectors that lie in one of the files are linked and not written again."""
    has = ranker.trained
    if not isinstance(has.words, Lexicon):
        what = f"the words of this {ranker.name} get their vectors from an encoder, which needs torch itself"
        raise UsageError(f"{what}; train one with vectors of a file, as vectors=FILE")
    onnx_match.write(ranker.fresh().network.net, place / MODEL)
    facts = {"question": has.question_words, "answer": has.answer_words, "buckets": has.words.buckets}
    (place / FACTS).write_text(json.dumps(facts), "utf-8")
    known = has.words.fingerprint
    replace(has.words, source=files.get(known, has.words.source)).save(place)
    files.setdefault(known, (place / VECTORS, (place / VECTORS).stat().st_mtime_ns))
    return OnnxMatch(folder=str(place))
