"""Whether the files of an index are as tantivy wrote them: reading a damaged one may end the process.

Nor may it name files elsewhere: those that it manages and has no use for any more, it deletes.
"""

from __future__ import annotations

import json
import struct
import zlib
from mmap import ACCESS_READ, mmap
from pathlib import Path

_MAGIC = 1337  # the last four bytes of each file; before them the length of a footer, and the footer
_END = struct.Struct("<II")


def sound(folder: Path) -> bool:
    """Whether it manages only files of its own, and those of its segments hold what their checksums say.

    A file that has just gone is passed over: another process may have merged it into another.
    """
    meta = json.loads((folder / "meta.json").read_bytes())
    managed = json.loads((folder / ".managed.json").read_bytes())
    if any(Path(each).name != each for each in managed):
        return False
    segments = {segment["segment_id"].replace("-", "") for segment in meta["segments"]}
    files = (path for path in folder.iterdir() if path.name.partition(".")[0] in segments)
    return all(map(_whole, files))


def _whole(path: Path) -> bool:
    try:
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as held:
            length, magic = _END.unpack(held[-_END.size :])
            begin = len(held) - _END.size - length
            if magic != _MAGIC or begin < 0:
                return False
            footer = json.loads(held[begin : -_END.size])
            with memoryview(held) as view, view[:begin] as body:
                return bool(zlib.crc32(body) == footer["crc"])
    except FileNotFoundError:
        return True
