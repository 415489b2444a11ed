"""Batches as columns: a mapping of arrays, or Arrow; read as pools, and given their new columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UsageError, require
from demur.types import Pool

QUESTION, ANSWERS = "question", "answers"
SCORES, RANKS = "scores", "ranks"
SPANS, SPAN_CONFIDENCES = "spans", "span_confidences"
CONFIDENCE, REFUSAL = "confidence", "refusal"


def pools_of(batch: Mapping[str, Any]) -> list[Pool]:
    """The rows of a batch as pools; what is wrong with one is said with its number, from 1."""
    for name in (QUESTION, ANSWERS):
        if name not in batch:
            has = ", ".join(map(repr, batch)) or "none"
            raise UsageError(f"the batch has no column {name!r} (its columns: {has}); call one so")
    questions, answers = batch[QUESTION], batch[ANSWERS]
    if len(questions) != len(answers):
        what = f"{len(questions):,} questions but {len(answers):,} lists of answers"
        raise UsageError(f"the batch has {what}; give a list to each question")
    pools = []
    for row, (question, texts) in enumerate(zip(questions, answers, strict=True), 1):
        if isinstance(texts, str) or not isinstance(texts, Sequence | np.ndarray):
            what = f"the answers are {type(texts).__name__}, not a list of texts"
            raise UsageError(f"row {row} of the batch: {what}; write [] where there are none")
        listed = [_text(text, f"answer {n}", row) for n, text in enumerate(texts, 1)]
        pools.append(Pool.of(_text(question, "the question", row), listed))
    return pools


def _text(value: object, what: str, row: int) -> str:
    if isinstance(value, str):
        return str(value)  # numpy has texts of its own
    raise UsageError(f"row {row} of the batch: {what} is {type(value).__name__}, not text; leave the row out")


def objects(values: Sequence[Any]) -> NDArray[np.object_]:
    """An array of these things as they are: numpy would make a matrix of lists that are equally long."""
    array = np.empty(len(values), object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def is_arrow(batch: object) -> bool:
    """Whether a batch is an Arrow table or record batch, told without importing pyarrow."""
    return hasattr(batch, "schema") and hasattr(batch, "column") and hasattr(batch, "to_pylist")


def asked(batch: Any) -> dict[str, list[Any]]:
    """The columns of an Arrow batch, empty but for those that are read."""
    read = QUESTION, ANSWERS
    return {
        name: batch.column(place).to_pylist() if name in read else []
        for place, name in enumerate(batch.schema.names)
    }


def with_columns(batch: Any, new: Mapping[str, Any]) -> Any:
    """The Arrow batch with new columns, in place of those that are called alike."""
    pyarrow = require("pyarrow", extra="parquet")
    number, text = pyarrow.float64(), pyarrow.string()
    span = pyarrow.struct([("start", pyarrow.int64()), ("end", pyarrow.int64()), ("text", text)])
    kinds = {
        SCORES: pyarrow.list_(number),
        RANKS: pyarrow.list_(pyarrow.int64()),
        SPANS: pyarrow.list_(span),
        SPAN_CONFIDENCES: pyarrow.list_(number),
        CONFIDENCE: number,
        REFUSAL: text,
    }
    kept = [field for field in batch.schema if field.name not in new]
    arrays = [batch.column(batch.schema.names.index(field.name)) for field in kept]
    # of the numbers only a confidence is null where it is none: a score that is none is an error to be seen
    arrays += [pyarrow.array(new[name], type=kinds[name], from_pandas=name == CONFIDENCE) for name in new]
    fields = [*kept, *(pyarrow.field(name, kinds[name]) for name in new)]
    return type(batch).from_arrays(arrays, schema=pyarrow.schema(fields, metadata=batch.schema.metadata))
