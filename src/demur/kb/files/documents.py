"""Files and folders as passages, whatever they are written in."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path

from demur import files
from demur.errors import DataError, MissingExtra
from demur.kb.files.apart import read_apart
from demur.kb.files.read_before import passages_kept
from demur.kb.formats.markdown import passages_of_markdown
from demur.kb.formats.plain_text import passages_of_text
from demur.kb.formats.tables import passages_of_csv, passages_of_jsonl
from demur.kb.passages import Passage
from demur.kb.store.schema import NAME, SQLITE
from demur.paths import is_file, is_folder

ADD_IT = "add that folder too"
_log = logging.getLogger(__name__)


def read_documents(paths: str | Path | Iterable[str | Path]) -> Iterator[Passage]:
    """The passages of files, and of all files in folders that demur can read, in order of their names."""
    for path in [paths] if isinstance(paths, str | Path) else paths:
        if is_folder(path):
            yield from _folder(Path(path))
        else:
            yield from _file(Path(path))


def readable(path: Path) -> bool:
    """Whether demur reads files of this name, gzipped or not."""
    return _suffix(path) in _READERS


def files_in(folder: Path) -> list[Path]:
    """The files that demur reads in a folder and in those in it, by their names, but for hidden ones.

    Folders that may not be read are among them, as nobody knows what is in there. Links come last, those to
    files in the folder and those that lead to folders elsewhere.
    """
    return sorted(_paths_in(folder), key=lambda path: (path.is_symlink(), path))


def _text(path: Path) -> Iterator[Passage]:
    return passages_of_text(_lines(path), str(path))


def _markdown(path: Path) -> Iterator[Passage]:
    return passages_of_markdown([line for _, line in _lines(path)], str(path))


def _apart(module: str, reader: str) -> Callable[[Path], Iterator[Passage]]:
    """A reader of strangers' files, which needs a package of the extra ``formats``, in a process apart."""

    def read(path: Path) -> Iterator[Passage]:
        if find_spec(module) is None:
            what = f"this needs {module}, which is not installed; pip install 'demur[formats]'"
            raise MissingExtra(f"{path}: {what}")
        asked = f"demur.kb.formats.{reader}"
        yield from passages_kept(module, asked, path, read_apart(asked, path))

    return read


_page = _apart("selectolax", "webpage:passages_of_page")
_READERS: dict[str, Callable[[Path], Iterator[Passage]]] = {
    ".csv": passages_of_csv,
    ".docx": _apart("mammoth", "docx:passages_of_docx"),
    ".htm": _page,
    ".html": _page,
    ".jsonl": passages_of_jsonl,
    ".markdown": _markdown,
    ".md": _markdown,
    ".ndjson": passages_of_jsonl,
    ".pdf": _apart("pypdfium2", "pdf:passages_of_pdf"),
    ".txt": _text,
    ".xhtml": _page,
}
_KINDS = ", ".join(_READERS)


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in files.lines(path):
        if "\0" in line:
            raise DataError("is binary, not text", path=path, line=number, fix="export it as text first")
        yield number, line


def _file(path: Path) -> Iterator[Passage]:
    if not readable(path) and is_file(path):
        raise DataError(
            "demur does not read files of this kind", path=path, fix=f"give it as one of {_KINDS}"
        )
    files.refuse_folder(path, ADD_IT)
    with files.unchanging(path):
        yield from map(_unbroken, _READERS.get(_suffix(path), _text)(path))


def _unbroken(passage: Passage) -> Passage:
    """The passage without soft hyphens, which say where a word may be cut: it is one word."""
    texts = {name: getattr(passage, name) for name in ("text", "heading", "question")}
    cut = {name: text.replace("\u00ad", "") for name, text in texts.items() if "\u00ad" in text}
    return replace(passage, **cut) if cut else passage


def _folder(folder: Path) -> Iterator[Passage]:
    """The passages of all readable files in a folder and the folders in it; hidden ones are left out.

    What cannot be read is passed over with a warning, as nobody has named it; if that is all, it is an error.
    """
    paths = files_in(folder)
    if not paths and _is_base(folder):
        fix = "name it with --kb, or in Python pass demur.kb of it"
        raise DataError("is a knowledge base, not a folder of files", path=folder, fix=fix)
    if not paths:
        raise DataError("no file that demur reads", path=folder, fix=f"put files in it that end in {_KINDS}")
    passed_over = 0
    known: set[str] = set()
    last: DataError | MissingExtra
    missing: dict[str, MissingExtra] = {}
    for path in paths:
        if (real := os.path.realpath(path)) in known:
            _log.info("%s: is a link to a file that is read already", path)
            continue
        known.add(real)
        try:
            passages = list(_file(path))  # of a file that breaks in the middle nothing is taken
        except DataError as error:
            _log.warning("passed over: %s", error)
            passed_over += 1
            last = error
        except MissingExtra as error:  # said once for each kind of file
            if _suffix(path) not in missing:
                _log.warning("passed over, with all of its kind: %s", error)
            missing[_suffix(path)] = last = error
            passed_over += 1
        else:
            yield from passages
    if passed_over == len(paths):
        which = "its only file cannot" if passed_over == 1 else f"none of its {passed_over} files can"
        raise DataError(f"{which} be read; {last}", path=folder)
    if passed_over:
        _log.warning("%s: %d of %d files are passed over", folder, passed_over, len(paths))


def _is_base(folder: Path) -> bool:
    """Whether it is a knowledge base, where files may wait that are about to be in it."""
    try:
        with (folder / NAME).open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError:
        return False


def _paths_in(folder: Path) -> Iterator[Path]:
    left_out = 0
    root = Path(os.path.realpath(folder))
    if not files.may_be_entered(folder):
        yield folder
        return
    for where, folders, names in os.walk(folder):
        inside = [name for name in folders if not (name.startswith(".") or _is_base(Path(where, name)))]
        folders[:] = [name for name in inside if files.may_be_entered(Path(where, name))]
        yield from (Path(where, name) for name in inside if name not in folders)
        links = [path for path in (Path(where, name) for name in folders) if path.is_symlink()]
        yield from (path for path in links if not Path(os.path.realpath(path)).is_relative_to(root))
        paths = [Path(where, name) for name in names if not name.startswith(".")]
        wanted = [path for path in paths if readable(path) and not files.is_pipe(path)]  # a pipe may wait
        left_out += len(paths) - len(wanted)
        yield from wanted
    if left_out:
        _log.info("%s: %d files of other kinds are left out", folder, left_out)


def begun(passages: Iterable[Passage]) -> Iterator[Passage]:
    """The same, the first read already: a PDF is parsed by then, and nobody who writes waits for that."""
    rest = iter(passages)
    return chain([*islice(rest, 1)], rest)
