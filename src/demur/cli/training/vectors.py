"""`demur vectors`: train word vectors on texts at hand, show what a file of them holds, convert it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demur.cli.console import JsonFlag, emit, meter, note, say, warnings_noted

if TYPE_CHECKING:
    from demur.embedders.word_vectors.tables import Table

SHOWN = 10  # words
WIDEST = 65_536  # as all that read vectors have it

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Train, show and convert word vectors.")

Output = Annotated[
    str,
    typer.Option("-o", "--output", help="Where to write: .safetensors, .txt, .vec (also .gz), .bin or .npz."),
]


@app.command()
def train(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXTS...", help="Datasets, splits such as squad/1.1/train, files or folders."
        ),
    ],
    output: Output,
    width: Annotated[int, typer.Option(min=1, max=WIDEST, help="Dimensions of a vector.")] = 300,
    window: Annotated[int, typer.Option(min=1, help="Context words on each side.")] = 8,
    min_count: Annotated[int, typer.Option(min=1, help="Rarer words are left out.")] = 10,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the texts.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the training.")] = 0,
    threads: Annotated[
        int, typer.Option(min=1, help="Number of threads; only with 1 is the result always the same.")
    ] = 1,
    model: Annotated[
        str, typer.Option(help="skipgram, cbow, ppmi (by counting) or encoder (its vectors of words).")
    ] = "skipgram",
    clean: Annotated[
        str, typer.Option(help="How texts are cleaned: paper (as in the paper) or plain.")
    ] = "paper",
    stopwords: Annotated[str, typer.Option(help="Stop words such as the: drop or keep.")] = "drop",
    json: JsonFlag = False,
) -> None:
    """Train word vectors on the unlabelled texts of datasets, or on your own files."""
    from demur.embedders.word_vectors import skipgram, table_formats
    from demur.files import check_writable

    how = skipgram.Training(width, window, min_count, epochs, seed, model, clean, stopwords)
    table_formats.check_name(output)
    check_writable(output)
    with warnings_noted():
        texts = (text for source in sources for text in _texts(source))
        made = {"texts of": sources}
        table = skipgram.train(texts, how, threads=threads, made=made, meter=meter)
    table_formats.write_table(output, table)
    if json:
        emit({"output": output, **_facts(table)})
    else:
        read = f"{table.made['words']:,} words in {table.made['texts']:,} texts"
        note(f"learnt {len(table):,} words, {table.width} wide, from {read}: {output}")


@app.command()
def show(
    vectors: Annotated[
        str, typer.Argument(metavar="VECTORS", help="A file of vectors, or a name such as glove.")
    ],
    like: Annotated[
        str | None, typer.Option(help="Show the words whose vectors are nearest to this word's.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Show what a file of word vectors holds, and how it was made."""
    from demur.embedders.word_vectors.embedder import located
    from demur.embedders.word_vectors.tables import table

    with warnings_noted():
        found = table(located(vectors))
    nearest = None if like is None else found.nearest(like, SHOWN)
    if json:
        emit(_facts(found) | ({} if nearest is None else {"nearest": dict(nearest)}))
        return
    for name, value in _facts(found).items():
        say(f"{name:12} {', '.join(value) if isinstance(value, list) else value}")
    for word, cosine in nearest or ():
        say(f"{cosine:12.3f} {word}")


@app.command()
def convert(
    vectors: Annotated[
        str, typer.Argument(metavar="VECTORS", help="A file of vectors, or a name such as glove.")
    ],
    output: Output,
    half: Annotated[
        bool, typer.Option("--half", help="Half precision (2 bytes per number), in .safetensors only.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Keep only the first N words.")] = None,
    words_of: Annotated[
        list[str] | None,
        typer.Option(help="Keep only the words of these datasets or files; may be repeated."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Write word vectors in another format, all of them or only what you need."""
    from demur.embedders.word_vectors import table_formats
    from demur.embedders.word_vectors.cleaning import clean
    from demur.embedders.word_vectors.embedder import located
    from demur.embedders.word_vectors.tables import table
    from demur.errors import UsageError
    from demur.files import check_writable
    from demur.text import tokenize

    table_formats.check_name(output, half)
    check_writable(output)
    with warnings_noted():
        found = table(located(vectors))
        wanted = None
        if words_of:
            texts = (text for source in words_of for text in _texts(source))
            wanted = {word for text in texts for word in (*clean(text, stopwords=True), *tokenize(text))}
    found = found.trimmed(wanted, limit)
    if not len(found):
        what = f"no word of {' and '.join(words_of or [vectors])} has a vector in {vectors}"
        raise UsageError(f"{what}, so nothing is written; name other texts or other vectors")
    table_formats.write_table(output, found, half)
    if json:
        emit({"output": output, **_facts(found)})
    else:
        note(f"{len(found):,} words, {found.width} wide: {output}")


def _facts(table: Table) -> dict[str, Any]:
    return {
        "words": len(table),
        "width": table.width,
        "fingerprint": table.fingerprint,
        "counts": "yes" if table.counts is not None else "no",
        "first": list(table.words[:SHOWN]),
        "made": dict(table.made),
    }


def _texts(source: str) -> Iterator[str]:
    """The texts of a dataset or split, of a file of pools, or of a user's documents."""
    from pathlib import Path

    from demur import data, registry
    from demur.data import formats
    from demur.embedders.word_vectors import dataset_vectors
    from demur.errors import DemurError
    from demur.kb.files.documents import read_documents, readable

    path = Path(source)
    if source.partition("/")[0] not in registry.names("dataset") and path.exists():
        try:
            formats.detect(path)
            next(iter(data.stream(path)), None)
        except DemurError:
            if path.is_dir() or readable(path):
                for passage in read_documents(path):
                    yield from (passage.heading, passage.text)
                return
    yield from dataset_vectors.texts(source)
