"""The folder beside a result, ``OUT.parts``, in which the shards of a long run wait until they are joined.

It holds a ticket that says of which job they are, and a lock that one run at a time can have. Only files of
our own making are ever removed; a folder that was there before is refused.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from demur import __version__
from demur.errors import UsageError
from demur.files import HALF, replacing, written
from demur.locks import locked

_LOCK, _TICKET = "lock", "job.json"
_MARK = "demur"  # the key of the ticket that says which demur made it
_DID = "did"  # the key of the ticket of a job that is done
_SAID = {  # what keys of the ticket mean to a user
    _MARK: "the version of demur",
    "source": "the input",
    "read_as": "the format of the input",
    "to": "the format to write",
    "shard": "the size of a shard",
}
_BEFORE_THE_TICKET = re.compile(rf"{_LOCK}|\.{re.escape(_TICKET)}{HALF}")
_WHOLE = re.compile(r"\d{6,}(\.jsonl)?")
_HALF = re.compile(rf"joined\..*|\.(\d{{6,}}|joined|job)\..*{HALF}")


class Parts:
    """The shards of one job: files, or folders of them where many files are scored."""

    def __init__(self, target: str, folder: str | Path | None = None) -> None:
        self.folder = Path(f"{Path(target)}.parts" if folder is None else folder)
        packed = ".gz" if Path(target).suffix == ".gz" else ""
        self.joined = self.folder / f"joined.out{packed}"  # the result, until it is whole

    def shard(self, number: int) -> Path:
        """Where a shard lies, or will."""
        return self.folder / f"{number:06d}.jsonl"

    def claim(self, job: Mapping[str, object]) -> None:
        """Make sure that the shards that are here, if any, are of the same job."""
        wanted = {_MARK: __version__, **job}
        found = self._ticket() or {}
        if (found.pop(_DID, None) or self.shards()) and found != wanted:
            changed = [key for key in {**wanted, **found} if found.get(key) != wanted.get(key)]
            what = " and ".join(_SAID.get(key, f"the {key}") for key in changed)
            differ = "differs" if len(changed) == 1 and changed != ["files"] else "differ"
            raise UsageError(
                f"{self.folder} holds the unfinished work of another job ({what} {differ}); "
                "finish that one, or start again with --restart"
            )
        if found != wanted:
            with replacing(self.folder / _TICKET) as file:
                json.dump(wanted, file)

    def finish(self, did: Mapping[str, object]) -> None:
        """Write on the ticket what the job did, before its shards are removed: a kill may come meanwhile."""
        with replacing(self.folder / _TICKET) as file:
            json.dump({**(self._ticket() or {}), _DID: did}, file)

    def finished(self) -> dict[str, Any] | None:
        """What the job did, if it is done and only its shards were not removed."""
        did = (self._ticket() or {}).get(_DID)
        return did if type(did) is dict else None

    def _ticket(self) -> dict[str, object] | None:
        """What the ticket says, or None if there is none of ours."""
        try:
            found = json.loads((self.folder / _TICKET).read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return found if type(found) is dict and _MARK in found else None

    def sweep(self) -> None:
        """Remove what is ours. The ticket goes after the shards: shards without one would be nobody's."""
        self._remove(re.compile(rf"{_WHOLE.pattern}|{_HALF.pattern}"))
        (self.folder / _TICKET).unlink(missing_ok=True)

    def drop_joined(self) -> None:
        """Remove what a join that was stopped has left."""
        self._remove(_HALF)

    def publish(self, target: str) -> None:
        """Move the joined file to where it is wanted."""
        with written(target):
            Path(target).parent.mkdir(parents=True, exist_ok=True)
            self.joined.replace(target)

    def _remove(self, names: re.Pattern[str]) -> None:
        for path in self.folder.iterdir():
            if names.fullmatch(path.name):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()

    def shards(self) -> list[Path]:
        """The shards that are here, in order."""
        found = [path for path in self.folder.iterdir() if _WHOLE.fullmatch(path.name)]
        return sorted(found, key=lambda path: int(path.stem))

    @contextmanager
    def held(self) -> Iterator[None]:
        """The folder is this run's alone; at the end it goes, unless something is left for a later run."""
        self._make()
        busy = f"another run is writing into {self.folder}; wait for its end, or write elsewhere"
        with locked(self.folder / _LOCK, busy):
            try:
                yield
            finally:
                if not self.shards() and not self.finished():
                    self.sweep()
                    with suppress(OSError):  # if somebody has put something there
                        (self.folder / _LOCK).unlink(missing_ok=True)
                        self.folder.rmdir()

    def _make(self) -> None:
        """Make the folder, and refuse one that is not of our making."""
        with written(self.folder):
            if not self.folder.exists():
                self.folder.mkdir(exist_ok=True)
            elif not self.folder.is_dir() or not self._is_ours():
                what = f"{self.folder}, where unfinished work is kept, exists already, and is not demur's"
                raise UsageError(f"{what}; move it away, or write elsewhere")

    def _is_ours(self) -> bool:
        names = [path.name for path in self.folder.iterdir()]
        return self._ticket() is not None or all(_BEFORE_THE_TICKET.fullmatch(name) for name in names)
