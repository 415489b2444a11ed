"""The passages of a knowledge base by their words: a tantivy index, made of the truth whenever it is gone.

Words are demur's own, cut and stemmed as everywhere else, and go in as hashes. The index finds a few hundred
passages; these are scored again by the formula of `demur.rankers.lexical.bm25`, with counts that leave out
what was deleted, so a base gives the scores that the same passages get in memory.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from demur.errors import DataError
from demur.kb.index.sound import sound
from demur.kb.passages import searched
from demur.kb.store.truth import Generation, Truth
from demur.tokens import HashArray, hash_words

_STATE = "@"  # the key of the one document that says which generation the index holds
_FORMAT = "1"  # of the index: another one is made anew
_HEAP = 200_000_000
_WIDTH = 17  # characters of a hash and the blank after it


class IndexedWords:
    """The index in a folder, or without one in memory."""

    def __init__(self, folder: Path | None, stem: str) -> None:
        self.folder, self.stem = folder, stem
        self._opened: Any = None
        self._searcher: Any = None

    def state(self) -> tuple[str, int, str]:
        """The base, generation and mark that the index holds as it is now; of nothing where it is broken."""
        try:
            if self._opened is None:
                if self.folder is None or not (self.folder / "meta.json").is_file():
                    return "", 0, ""
                if not sound(self.folder):
                    return "", 0, ""
                self._opened = self._index()
            self._opened.reload()
            searcher = self._opened.searcher()
            found = searcher.search(self._term("key", _STATE), limit=1).hits
            said = searcher.doc(found[0][1])["state"][0].split() if found else []
            if len(said) != 6 or said[3:] != [_FORMAT, self.stem, str(searcher.num_docs - 1)]:
                return "", 0, ""
        except BaseException as error:  # a panic in Rust is no Exception
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            self._opened = None
            return "", 0, ""
        self._searcher = searcher
        return said[0], int(said[1]), said[2]

    def catch_up(
        self, truth: Truth, generation: Generation, advance: Callable[[int], None] | None = None
    ) -> None:
        """Bring the index to a generation, from what it holds, or from nothing if that is of no use."""
        base, number, mark = self.state()
        known = base == truth.base and truth.knows(number, mark) and truth.purged <= number
        known = known and number <= generation.number
        if self.folder is None:
            self._opened = None
        elif not known:
            self._opened = self._searcher = None
            shutil.rmtree(self.folder, ignore_errors=True)
        before = truth.generation(number) if known else Generation()
        try:
            self._write(truth, before, generation, advance)
        except (OSError, ValueError) as error:
            self._opened = None
            said = error.strerror if isinstance(error, OSError) and error.strerror else "its disk may be full"
            raise DataError(
                f"the index of words cannot be written ({said})",
                path=self.folder,
                fix="free space, or look at permissions; the passages are safe, and the index is made again",
            ) from None
        self.state()

    def _write(
        self, truth: Truth, before: Generation, now: Generation, advance: Callable[[int], None] | None
    ) -> None:
        import tantivy

        if self._opened is None:
            if self.folder is not None:
                self.folder.mkdir(exist_ok=True)
            self._opened = self._index()
        writer = self._opened.writer(_HEAP, 1)
        try:
            writer.garbage_collect_files()  # what a kill left behind stops later commits
            for place in truth.dead(now, before.number):
                if place <= before.newest:
                    writer.delete_documents_by_term("key", str(place))
            for rows in truth.texts(before.newest, now):
                texts = [searched(heading, text) for _, heading, text, _ in rows]
                hashes, counts = hash_words(texts, self.stem)
                hexes, start = hashes.tobytes().hex(" ", 8), 0
                for (place, *_), words in zip(rows, counts.tolist(), strict=True):
                    document, end = tantivy.Document(), start + _WIDTH * words
                    document.add_text("key", str(place))
                    document.add_unsigned("place", place)
                    document.add_text("words", hexes[start : max(start, end - 1)])
                    writer.add_document(document)
                    start = end
                if advance is not None:
                    advance(len(rows))
            writer.delete_documents_by_term("key", _STATE)
            state = tantivy.Document()
            state.add_text("key", _STATE)
            said = truth.base, now.number, now.mark or "-", _FORMAT, self.stem, now.passages
            state.add_text("state", " ".join(map(str, said)))
            writer.add_document(state)
            writer.commit()
        except BaseException:
            with suppress(Exception):
                writer.rollback()
            raise
        finally:
            with suppress(Exception):
                writer.wait_merging_threads()

    def search(self, weights: Mapping[str, float], top: int, now: Generation) -> list[int]:
        """The places of passages that have one of these hashed words, about the best first."""
        from tantivy import Occur, Query

        if not weights:
            return []
        query = Query.boolean_query([(Occur.Should, self._term("words", word)) for word in weights])
        most = max(1, min(top, self._searcher.num_docs))  # room is made for so many
        found = self._searcher.search(query, limit=most, count=False).hits
        return list(self._searcher.fast_field_values("place", [address for _, address in found]))

    def having(self, word: str, now: Generation) -> int:
        """How many passages have a hashed word; those that were deleted do not count."""
        return int(self._searcher.search(self._term("words", word), limit=1).count)

    def _term(self, field: str, value: str) -> Any:
        from tantivy import Query

        return Query.term_query(_schema(), field, value, index_option="freq" if field == "words" else "basic")

    def _index(self) -> Any:
        import tantivy

        path = None if self.folder is None else str(self.folder)
        index = tantivy.Index(_schema(), path=path)
        blanks = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        index.register_tokenizer("blanks", blanks)
        index.config_reader("manual")
        return index


def hexed(hashes: HashArray) -> list[str]:
    """Hashes as they stand in the index."""
    return [each.tobytes().hex() for each in np.asarray(hashes)]


def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("key", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("state", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("place", fast=True)
    builder.add_text_field("words", tokenizer_name="blanks", index_option="freq")
    return builder.build()
