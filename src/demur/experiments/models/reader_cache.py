"""What readers say of questions, and probes of readers, from the cache where they were made before."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from demur import cache
from demur.doubt import Observed, Probes, observe
from demur.doubt.base import Proba
from demur.doubt.doubt_folder import TrainedDoubt, open_doubt, save
from demur.editions import editions
from demur.errors import DataError, DemurError
from demur.experiments.models.cached_models import fingerprint, hash_of, pools_of
from demur.reading.base import Reader
from demur.types import Pool

if TYPE_CHECKING:
    from demur.doubt.probing.probe_training import ProbeTrainer


class NotKeptError(DemurError):
    """What was asked for is not in the cache, and was not to be made."""


def predictions(
    reader: Reader,
    pools: Sequence[Pool],
    probes: Probes | None = None,
    fixed: Observed | None = None,
    dropout: int | None = None,
    make: bool = True,
) -> Observed:
    """What a reader says of questions: see `demur.doubt.observing.observe`."""
    said = {
        "reader": reader.fingerprint,
        "pools": fingerprint(pools),
        "probes": [_hash(each) for each in probes.weights] if probes else [],
        "fixed": _hash(fixed.window, fixed.first, fixed.last) if fixed else "",
        "dropout": dropout,
    }
    file = cache.folder("observed") / f"{_key(reader, said)}.npz"
    if file.is_file():
        try:
            return Observed.load(file)
        except DataError:  # broken by a full disk or a newer format: made again
            pass
    if not make:
        raise NotKeptError("what the reader says of these questions")
    found = observe(reader, pools, probes, fixed, dropout)
    found.save(file)
    return found


def probes_of(reader: Reader, data: str, by: ProbeTrainer, make: bool = True) -> Probes:
    """The probes of a reader, taught on the questions of some data."""
    key = _key(reader, {"reader": reader.fingerprint, "data": hash_of(data), "by": by.spec})
    folder = cache.folder("probes") / key
    if folder.is_dir():
        try:
            kept = open_doubt(reader, folder).probes
            if kept is not None:
                return kept
        except DataError:
            pass
        if make:
            shutil.rmtree(folder)
    if not make:
        raise NotKeptError("the reader's probes")
    found = by.train(reader, pools_of(data))
    save(TrainedDoubt(Proba(), found), reader, folder, {"data": data, "by": by.spec})
    return found


def _key(reader: Reader, said: dict[str, Any]) -> str:
    parts = [f"reader {reader.name}", "net probe"]
    text = json.dumps({**said, "editions": editions(parts)}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _hash(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for each in arrays:
        digest.update(each.tobytes())
    return digest.hexdigest()[:16]
