"""What clients send and get about a knowledge base: documents, jobs, labels and questions."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from demur.serving.messages.bodies import Question, Quoted, Sent


class Document(BaseModel):
    """A file or a text of the base, and how many passages it has."""

    name: str
    kind: str
    passages: int


class Job(BaseModel):
    """Work that goes on after its request: running, done or failed."""

    id: str
    kind: str
    about: str
    state: str
    done: int
    total: int | None = None
    result: dict[str, Any] | None = None
    error: str | None = None


class Documents(BaseModel):
    """What is in the base; `embedded` passages are found by their meaning too."""

    generation: int
    passages: int
    embedded: int
    total: int
    documents: list[Document]
    jobs: list[Job]


class Changed(BaseModel):
    """What became of a document, and the generation in which it is so."""

    name: str
    status: str
    passages: int
    generation: int
    note: str | None = None


class LabelBody(Sent):
    """Which passages answer a question, and which do not; with none that is right, none answers."""

    question: Question
    right: list[int | str] = Field(max_length=50)
    wrong: list[int | str] = Field(default_factory=list, max_length=50)


class QuestionsBody(Sent):
    """Questions to be labelled."""

    questions: list[Question] = Field(max_length=10_000)


class CalibrateBody(Sent):
    """What is to be promised: at most this share of answers wrong, and how sure that is to be."""

    risk: Annotated[float, Field(gt=0, lt=1)] = 0.1
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95


class Kept(BaseModel):
    """How many were kept."""

    kept: int


class Standing(BaseModel):
    """Whether a risk can be promised, for what share of questions, or how many more labels it takes."""

    risk: float
    promised: bool
    coverage: float | None = None
    more: int | None = None


class Labels(BaseModel):
    """The labelled questions of the base, and which risks they can promise."""

    labelled: int
    fit: int
    certify: int
    answerable: int
    stale: int
    waiting: int
    levels: list[Standing]
    promise: str | None = None
    generation: int


class Shown(BaseModel):
    """A passage to be judged."""

    passage: int
    text: str
    heading: str
    source: str
    line: int | None = None
    span: Quoted | None = None


class NextQuestion(BaseModel):
    """The question to label next, with what was found for it; nothing if none waits."""

    question: str | None = None
    part: str | None = None
    passages: list[Shown] = Field(default_factory=list)
    waiting: int = 0
