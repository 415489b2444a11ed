"""From nets that match words, or a committee, to a folder that needs no torch."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from demur import __version__, store
from demur.errors import UsageError
from demur.export import match_graph
from demur.export.export import Exported, card, check_near, compared, some
from demur.export.export import export as export_network
from demur.files import written
from demur.rankers import Ranker, open_model
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder
from demur.rankers.cross_encoders.onnx import MODEL
from demur.rankers.ensembles.committee import Committee
from demur.rankers.ensembles.fusion import Fusion
from demur.rankers.match_nets.match_nets import FACTS, Match
from demur.rankers.match_nets.onnx_match import OnnxMatch
from demur.rankers.match_nets.word_numbers import VECTORS, Lexicon
from demur.rankers.opening import save
from demur.specs import Spelled

Several = Committee | Fusion
Files = dict[str, tuple[Path, int]]
"""Files of vectors that lie there, by their fingerprint, and when they were written."""


def export(ranker: Match | Several, folder: Path, precision: str, calibrate: str) -> Exported:
    """A net as a folder of the ranker ``onnx-match``; or a committee or fusion of exported members.

    Members that are cross-encoders have the `precision` that is asked for; those that need no torch stay.
    """
    pools = some(calibrate)
    what = next((part for part in _parts(ranker) if (needed := needs_torch(part))), None)
    if what is not None:
        raise UsageError(
            f"the member {what.spec} needs torch, and {needed} cannot be exported; "
            "leave it out, or rank with torch"
        )
    exact = precision == "fp32" or not any(part.name == CrossEncoder.name for part in _parts(ranker))
    if exact and precision == "int8":
        raise UsageError(f"{ranker.name} is exported in fp32 alone, which is small and fast; leave int8 out")
    with written(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent)
    with temporary as beside:
        inside = Path(beside)
        found = _exported(ranker, inside / "net", precision, calibrate, {})
        agreement = compared(ranker, found, pools, calibrate)
        if exact:
            check_near(agreement, folder)
        said = "fp32" if exact else precision or "int8"
        made: dict[str, Any] = {"from": ranker.fingerprint, "precision": said, "graph": "torch"}
        made |= {"demur": __version__, "agreement": asdict(agreement), **store.learnt(ranker.folder)}
        save(found, folder, made, {"README.md": card(said, agreement, ranker.name)})
    return Exported(folder, open_model(folder), said, "torch", agreement)


def _parts(ranker: Ranker) -> Iterator[Ranker]:
    """The rankers that a committee or fusion is made of in the end."""
    if isinstance(ranker, Several):
        for member in ranker.members:
            yield from _parts(member)
    else:
        yield ranker


def needs_torch(part: Spelled, inside: bool = False) -> str:
    """What in a ranker needs torch and cannot be exported; empty if nothing does.

    What is `inside` another ranker, such as the first one of ``feedback``, is not exported at all.
    """
    if part.name in TORCH or (inside and isinstance(part, Match | CrossEncoder)):
        return part.name
    if isinstance(part, Match | CrossEncoder):
        return ""
    return next((found for each in part.parts if (found := needs_torch(each, True))), "")


TORCH = ("bi-encoder", "bidaf", "encoder", "joint", "mini-torch", "span-reader", "support")


def _exported(ranker: Ranker, place: Path, precision: str, calibrate: str, files: Files) -> Ranker:
    """The exported ranker, in a place of its own; the same, if it can do without torch."""
    if isinstance(ranker, Several):
        return ranker.holding(
            tuple(
                _exported(member, place.with_name(f"{place.name}-{number}"), precision, calibrate, files)
                for number, member in enumerate(ranker.members, 1)
            )
        )
    if isinstance(ranker, Match):
        place.mkdir()
        return _net(ranker, place, files)
    if ranker.name == CrossEncoder.name:
        return export_network(ranker, place, precision, calibrate).ranker
    return ranker


def _net(ranker: Match, place: Path, files: Files) -> OnnxMatch:
    """The net in a folder; vectors that lie in one of the files are linked and not written again."""
    has = ranker.trained
    if not isinstance(has.words, Lexicon):
        what = f"the words of this {ranker.name} get their vectors from an encoder, which needs torch itself"
        raise UsageError(f"{what}; train one with vectors of a file, as vectors=FILE")
    match_graph.write_graph(ranker.fresh().network.net, place / MODEL)
    facts = {"question": has.question_words, "answer": has.answer_words, "buckets": has.words.buckets}
    (place / FACTS).write_text(json.dumps(facts), "utf-8")
    known = has.words.fingerprint
    replace(has.words, source=files.get(known, has.words.source)).save(place)
    files.setdefault(known, (place / VECTORS, (place / VECTORS).stat().st_mtime_ns))
    return OnnxMatch(folder=str(place))
