"""Gates as files: JSON that people can read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from demur import store
from demur.errors import DataError, refuse_newer
from demur.files import read_json, replacing
from demur.rankers.opening import HUB_ID
from demur.risk.gates.certificate import ANSWERS, Certificate
from demur.risk.gates.pool_hashes import Marks
from demur.specs import Spec, parse

FORMAT = "demur gate 1"
_MAKE = "make a gate with demur calibrate … -o FILE"
_AGAIN = "calibrate it again"


def write_gate(
    path: str | Path,
    threshold: float | None,
    certificate: Certificate,
    marks: Marks,
    confidences: tuple[float, ...],
) -> None:
    """Write a gate, with null for a threshold that lets all pass; the file is there whole or not at all."""
    plain: dict[str, Any] = {
        "format": FORMAT,
        "promise": certificate.promise,
        "threshold": threshold,
        "certificate": dict(certificate),
        "confidences": list(confidences),
        "marks": str(marks),
    }
    plain["seal"] = _seal(plain)
    with replacing(path) as file:
        json.dump(plain, file, ensure_ascii=False, indent=1, allow_nan=False)
        file.write("\n")


def read_gate(path: str | Path) -> tuple[float, Certificate, Marks, tuple[float, ...]]:
    """The threshold, certificate, marks and confidences that a file holds."""
    plain = read_json(path, _MAKE)
    try:
        said = plain.get("format") if isinstance(plain, dict) else None
        refuse_newer(said, FORMAT, path)
        if said != FORMAT:
            raise DataError("this is not a gate", path=path, fix=_MAKE)
        if plain.get("seal", _seal(plain)) != _seal(plain):  # gates of older versions have none
            raise DataError("was changed after the gate was made (checksum)", path=path, fix=_AGAIN)
        found = plain["certificate"]
        said = {each.name: found[each.name] for each in fields(Certificate) if each.default is MISSING}
        certificate = Certificate(**said, about=str(found.get("about", ANSWERS)))
        confidences = tuple(float(value) for value in plain["confidences"])
        threshold = float("-inf") if plain["threshold"] is None else float(plain["threshold"])
        return threshold, certificate, Marks.of_text(plain["marks"]), confidences
    except (ValueError, TypeError, KeyError) as error:
        if isinstance(error, DataError):
            raise
        what = f"the gate is broken ({type(error).__name__}: {error})"
        raise DataError(what, path=path, fix=_AGAIN) from None


def _seal(plain: dict[str, Any]) -> str:
    """A hash of all numbers that a promise rests on; names of files may change."""
    numbers = {
        key: value for key, value in dict(plain["certificate"]).items() if isinstance(value, int | float)
    }
    said = [plain["threshold"], numbers, plain["confidences"], plain["marks"]]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


def beside(qualifier: str, place: Path | None) -> str:
    """A gate's qualifier; the model that it asks is found again where gate and model were moved together.

    It names a folder as whoever made the gate did, perhaps from another directory. If nothing is there, or
    the gate lies in a folder of that name, that folder is meant. A hash says whether it is the same model.
    """
    asked = parse(qualifier)
    if place is None or not store.is_model(place):
        return qualifier
    said = dict(asked.settings)
    for key in ("model", "reader", "folder"):
        named = str(said.get(key) or "")
        gone = not Path(named).expanduser().exists() and not HUB_ID.fullmatch(named)
        if named and (Path(named).name == place.name or gone):
            said[key] = str(place)
    return str(Spec(asked.name, said, asked.at))
