"""Changes a knowledge base until it is killed: at a call into SQLite, tantivy or a server, or from outside.

Each change is announced on stdout, with what files there will be, and acknowledged when it is done.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from demur.kb.folder import KnowledgeBase
from demur.kb.lance import lease
from kb.base_toys import Hashing, write
from kb.places import HASTE

_PLACES = "postgres/server.py", "lance/lake.py"
FILES = [f"f{number}.txt" for number in range(5)]
_CALLS = {"execute", "executemany", "executescript", "commit", "garbage_collect_files", "rollback"}
_CALLS |= {"wait_merging_threads", "add_document", "delete_documents_by_term", "mkdir", "rmdir", "unlink"}


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def text(name: str, version: int) -> str:
    """A file's text; half of its passages are the same in each version, and one is in every file."""
    kept = [f"The {name[1]} keeper of place {part} guards it." for part in range(3)]
    new = [f"Edition {version} of {name[1]} tells story {part} of {version % 3} towers." for part in range(3)]
    return "\n\n".join([*kept, *new, "Every house has the same door."]) + "\n"


def change(kb: KnowledgeBase, docs: Path, files: dict[str, int], draw: random.Random) -> None:
    """One change of the base, announced and acknowledged."""
    what = draw.choice(["add", "add", "update", "remove", "embed", "embed", "catch up"]) if files else "add"
    after = dict(files)
    some = draw.sample(FILES, 2)
    if what == "add":
        after |= {name: draw.randrange(1000) for name in some}
    elif what == "update":
        after |= {name: draw.randrange(1000) for name in some if name in files}
    elif what == "remove":
        after = {name: version for name, version in files.items() if name != some[0]}
    say(json.dumps(after))
    write(docs, {name: text(name, after[name]) for name in some if name in after})
    if what == "add":
        assert all(each.status != "skipped" for each in kb.add([docs / name for name in some]))
    elif what == "update":
        kb.update()
    elif what == "remove" and some[0] in files:
        kb.remove(docs / some[0])
    elif what == "embed":
        kb.embed(Hashing())
    else:
        if isinstance(kb.path, Path):
            shutil.rmtree(kb.path / "words", ignore_errors=True)
        kb.refresh()
    say("done")
    files.clear()
    files.update(after)


def main(folder: Path, base: str, files: dict[str, int], seed: int, calls: int) -> None:
    """Change the base; after so many calls (0: never) this process kills itself."""
    left = calls

    def count(frame: FrameType, event: str, called: Any) -> None:
        nonlocal left
        served = event == "call" and frame.f_code.co_filename.endswith(_PLACES)
        if served or (event == "c_call" and getattr(called, "__name__", "") in _CALLS):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    draw = random.Random(seed)
    lease.BEAT, lease.PATIENCE = HASTE
    kb = KnowledgeBase(base)
    if calls:
        sys.setprofile(count)
    for _ in range(200):
        change(kb, folder / "docs", files, draw)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
