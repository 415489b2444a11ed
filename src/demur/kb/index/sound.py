"""Whether the files of an index are as tantivy wrote them: reading a damaged one may end the process."""

from __future__ import annotations

import json
import struct
import zlib
from mmap import ACCESS_READ, mmap
from pathlib import Path

_MAGIC = 1337  # the last four bytes of each file; before them the length of a footer, and the footer
_END = struct.Struct("<II")


def sound(folder: Path) -> bool:
    """Whether all files of the segments that meta.json names hold what their checksums say.

    A file that has just gone is passed over: another process may have merged it into another.
    """
    meta = json.loads((folder / "meta.json").read_bytes())
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
