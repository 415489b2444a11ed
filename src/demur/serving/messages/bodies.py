"""What clients send and get, as pydantic models: unknown keys and nulls are ignored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    JsonValue,
    StringConstraints,
)

LONGEST_QUESTION = 20_000
"""Characters of a question."""
Question = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_QUESTION, pattern=r"\S")]

LONGEST = 200_000
"""Characters of one text."""
WINDOW = 1_000
"""Characters of a text that count as one pair, as a network reads no more at once."""
Given = Annotated[str, StringConstraints(max_length=LONGEST)]


def pairs(texts: Iterable[str]) -> int:
    """How many pairs these texts count for: one, and more the longer they are."""
    return sum(max(1, -(-len(text) // WINDOW)) for text in texts)


def _whole(number: Any) -> Any:
    """An integer for a float that is one, such as 3.0: JSON knows no difference."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


Count = Annotated[int, Field(ge=1), BeforeValidator(_whole)]  # bounds first, or the OpenAPI page lacks them


class Sent(BaseModel):
    """What clients send: a number is no string, and a truth no number."""

    model_config = ConfigDict(strict=True)


class Document(Sent):
    """A document as an object."""

    text: Given


class Text(BaseModel):
    """A document as it is given back."""

    text: str


class RelevantSpans(Sent):
    """Which quotes are wanted in each result: at least so sure, at most so many."""

    mode: Literal["enabled", "disabled"] | None = None
    threshold: FiniteFloat | None = None
    max_spans: Count | None = None


class RerankBody(Sent):
    """A question and documents, as Cohere, Jina and vLLM have them."""

    query: Question
    documents: list[Given | Document]
    top_n: Count | None = None
    model: str | None = None
    return_documents: bool | None = None
    relevant_spans: RelevantSpans | None = None


_ONE_OF_BOTH: list[JsonValue] = [
    {"required": [name], "properties": {name: {"type": "array"}}} for name in ("texts", "documents")
]


class EitherBody(Sent):
    """A question with `texts`, as TEI has it, or with `documents`, as Cohere, Jina and vLLM have it."""

    model_config = ConfigDict(strict=True, json_schema_extra={"anyOf": _ONE_OF_BOTH})

    query: Question
    texts: list[Given] | None = None
    documents: list[Given | Document] | None = None
    top_n: Count | None = None
    raw_scores: bool | None = None
    return_text: bool | None = None
    model: str | None = None
    return_documents: bool | None = None
    relevant_spans: RelevantSpans | None = None


class Judged(BaseModel):
    """What the gate says of the best text; nothing is left out of the results because of it."""

    abstained: bool
    reason: str | None = None
    confidence: float | None = None
    certificate: dict[str, Any] | None = None


class TeiResult(BaseModel):
    """A text's place in what was sent and its score; the first of a list has the gate's word too."""

    index: int
    score: float
    text: str | None = None
    demur: Judged | None = None


class RelevantSpan(BaseModel):
    """A quote, counted in code points of its document."""

    start: int
    end: int
    score: float


class RerankResult(BaseModel):
    """A document's place in what was sent, and how well it answers, from 0 to 1."""

    index: int
    relevance_score: float
    document: Text | None = None
    relevant_spans: list[RelevantSpan] | None = None


class RerankAnswer(BaseModel):
    """Results, best first."""

    id: str
    model: str
    results: list[RerankResult]
    meta: dict[str, Any]
    usage: dict[str, int]
    demur: Judged | None = None


class Inputs(Sent):
    """A question and the text that may answer it."""

    question: Question
    context: Given


class Parameters(Sent):
    """What Hugging Face clients may ask for; other keys are ignored."""

    top_k: Annotated[int, Field(ge=1, le=100), BeforeValidator(_whole)] | None = None
    handle_impossible_answer: bool | None = None
    max_answer_len: Count | None = None
    """Words of a quote, at most."""


class QaBody(Sent):
    """A question about one text, as Hugging Face has it."""

    inputs: Inputs
    parameters: Parameters | None = None


class QaAnswer(BaseModel):
    """The quote, and where it stands; empty where it cannot be answered and that may be said."""

    answer: str
    score: float
    start: int
    end: int
    demur: Judged | None = None


class AskBody(Sent):
    """A question to the documents of the server."""

    question: Question
    top: Annotated[int, Field(ge=1, le=50), BeforeValidator(_whole)] | None = None
    risk: Annotated[float, Field(gt=0, lt=1)] | None = None
    kb: str | None = None


class Quoted(BaseModel):
    """A stretch of a passage, counted in code points."""

    start: int
    end: int
    text: str


class Passage(BaseModel):
    """A passage, where it stands, what is quoted from it, and how well it fits."""

    id: str
    text: str
    span: Quoted | None = None
    sentence: Quoted | None = None
    source: str
    line: int | None = None
    heading: str
    copies: int
    score: float | None = None
    read: dict[str, Any] | None = None
    matched: list[str]
    coverage: float


class Answered(Passage):
    """The passage that answers, with how sure that is and what is promised."""

    confidence: float | None = None
    threshold: float | None = None
    certificate: dict[str, Any] | None = None
    same_question: bool = False
    also_answered_by: int = 0
    """How many other rows have the same question and another answer."""


class AskAnswer(BaseModel):
    """An answer, or why there is none; as `demur ask --json` has it."""

    question: str
    abstained: bool
    reason: str | None = None
    confidence: float | None = None
    threshold: float | None = None
    """The confidence below which nothing is answered."""
    certificate: dict[str, Any] | None = None
    answer: Answered | None = None
    nearest: Passage | None = None
    ranking: list[Passage]


class Limits(BaseModel):
    """How much the server takes."""

    body_bytes: int
    text_characters: int
    queue_pairs: int
    deadline_seconds: float


class Info(BaseModel):
    """What answers here, and what it promises."""

    version: str
    model_id: str
    model_fingerprint: str
    reader: str | None = None
    documents: str | None = None
    ranker: str | None = None
    """What ranks the documents; texts that are sent are ranked by `model_id`."""
    passages: int | None = None
    promise: str | None = None
    promise_waits: bool = False
    """Whether nothing is promised until more of the passages can be found by meaning."""
    risks: list[float]
    threshold: float | None = None
    faq_promise: str | None = None
    """What is promised instead where the first passage answers a question of its own, as in an FAQ."""
    faq_threshold: float | None = None
    knowledge_base: bool = False
    read_only: bool = False
    generation: int | None = None
    embedded: int | None = None
    calibrated_on: int | None = None
    changed_since: float | None = None
    lapsed: bool | None = None
    limits: Limits


class State(BaseModel):
    """How the server is."""

    status: str
