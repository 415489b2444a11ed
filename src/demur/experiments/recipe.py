"""A table as its TOML recipe says it; an unknown key is an error."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from pathlib import Path

from demur import toml
from demur.errors import UnknownName, UsageError

_LEARNING = {"trainer", "stage", "train", "dev", "settings", "early", "vectors"}
KEYS: dict[str, tuple[set[str], set[str]]] = {
    "ranking": (set(), {"ranker", "baseline", *_LEARNING}),
    "curves": ({"sizes"}, {"ranker", *_LEARNING}),
    "gates": ({"ranker", "fit", "qualifier", "risk", "splits", "confidence"}, {"train", "dev", "vectors"}),
    "agreement": ({"answers", "agreement", "splits", "confidence"}, set()),
    "quoting": ({"reader"}, {"train", "vectors"}),
    "cases": (set(), {"ranker", "baseline", *_LEARNING}),
    "labels": ({"labels"}, set()),
    "reading": (
        {"reader", "doubt", "fit", "splits", "confidence"},
        {"train", "others", "passes", "vectors", "derived"},
    ),
}
"""The kinds of table: the keys that each of them needs, and those that it may have."""


@dataclass(frozen=True)
class Column:
    """A dataset of a table.

    `fit` names other data, that qualifiers learn from and thresholds are made of; `train` and `dev` those
    that a stage of a row names so, with `settings` of its own such as a margin; in a table of readers,
    probes learn from `train`. `vectors` are those word vectors of the table that ``{vectors}`` stands for in
    a row. A learning curve has `sizes`: how many questions of `train` are learnt from.

    A column without `data` is not run: there are the paper's figures alone.
    """

    name: str
    data: str = ""
    fit: str = ""
    train: str = ""
    dev: str = ""
    settings: str = ""
    vectors: str = ""
    sizes: list[int] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True)
class Stage:
    """Something that a row's trainer learns from; the word ``train`` or ``dev`` stands for the column's.

    `settings` are the trainer's, in this stage; with a `seed` of its own a stage is the same for all seeds of
    the row. A stage may have another `trainer` than the row.
    """

    data: str
    dev: str = ""
    settings: str = ""
    seed: int | None = None
    trainer: str = ""


@dataclass(frozen=True)
class Row:
    """A method of a table; without a ranker, trainer, reader or answers it is one that demur lacks yet.

    A table of labels checks them by the rule that its row names.

    A `reader`'s answers are doubted by a `doubt`, such as ``proba``, or ``oracle``; `others` are readers that
    are asked too, separated by semicolons, or there are so many `passes` with dropout.

    It is tested against the row that its `baseline` names, or else against the table's.

    `early` says what a learning curve's early stopping looks at: ``small``, no more questions than are learnt
    from, or ``full``, the whole of dev.

    Results lie under its name; it is shown by its `title`, if it has one: so a row that stands beside the
    figures of another system says what it is.
    """

    name: str
    title: str = ""
    ranker: str = ""
    trainer: str = ""
    stage: list[Stage] = field(default_factory=list)
    early: str = ""
    qualifier: str = ""
    risk: float = 0.0
    answers: str = ""
    agreement: str = ""
    labels: str = ""
    reader: str = ""
    doubt: str = ""
    others: str = ""
    passes: int = 0
    group: str = ""
    baseline: str = ""
    seeds: list[int] = field(default_factory=lambda: [0])
    note: str = ""

    @property
    def runs(self) -> bool:
        """Whether there is something to run."""
        return bool(self.ranker or self.trainer or self.answers or self.reader or self.labels)

    @property
    def shown(self) -> str:
        """What it is called where people read it."""
        return self.title or self.name


@dataclass(frozen=True)
class Vectors:
    """Word vectors trained on the unlabelled texts of datasets; a row names them in braces."""

    name: str
    data: list[str]
    width: int = 300
    min_count: int = 10
    epochs: int = 10
    model: str = "skipgram"
    clean: str = "paper"
    stopwords: str = "drop"


@dataclass(frozen=True)
class Model:
    """A ranker that is trained once for all rows that name it in braces."""

    name: str
    trainer: str
    stage: list[Stage]
    seed: int = 0


@dataclass(frozen=True)
class Published:
    """Figures of the paper for one row: column name -> value, as a share of 1."""

    row: str
    measure: str
    convention: str
    values: dict[str, float]


@dataclass(frozen=True)
class Loss:
    """What a perturbation costs: the figures of the column `plain` less those of its own columns, on average.

    Its `columns` are draws of one perturbation, of the test set or of what is learnt from.
    """

    name: str
    plain: str
    columns: list[str]


@dataclass(frozen=True)
class Table:
    """One table of a paper. Its kind says what is run for a cell: see `demur.experiments.kinds`.

    The other rows are tested against the one that is called `baseline`, if they name no other.
    """

    paper: str
    table: str
    title: str
    measures: list[str]
    conventions: list[str]
    differs: str
    column: list[Column]
    row: list[Row]
    published: list[Published] = field(default_factory=list)
    vectors: list[Vectors] = field(default_factory=list)
    model: list[Model] = field(default_factory=list)
    kind: str = "ranking"
    splits: int = 0
    confidence: float = 0.0
    baseline: str = ""
    stars: bool = False
    """Whether the best of each column is marked, and tested against the second best."""
    derived: list[str] = field(default_factory=list)
    """Measures that are worked out of what is kept, when it is shown: see `kinds.derived`."""
    loss: list[Loss] = field(default_factory=list)
    """What perturbations cost its rows, and the baseline: see `pages.losses`."""
    see: str = ""
    """What to see in it, said on its page; ``{name}`` is a figure of ``docs/templates/results.toml``."""
    pictures: dict[str, str] = field(default_factory=dict)
    """Files under results/pictures that its page shows, with what each is of."""

    def __post_init__(self) -> None:
        self._check_kind()
        names = [column.name for column in self.column], [row.name for row in self.row]
        for each in names:
            if len({slug(name) for name in each}) < len(each) or not all(map(slug, each)):
                raise UsageError(
                    "a name occurs twice, or has no Latin letters: results are filed under names"
                )
        for published in self.published:
            unknown = [published.row] if published.row not in names[1] else []
            unknown += [column for column in published.values if column not in names[0]]
            if unknown:
                raise UsageError(
                    f"figures are published for {unknown[0]!r}, which is not a row or column; "
                    "correct its name"
                )

        printed = {name for each in self.published for name in each.values}
        for column in self.column:
            if not column.data and column.name not in printed:
                raise UsageError(
                    f"column {column.name!r} has neither data nor published figures; give it one of them"
                )
        for name in self.baselines:
            if name not in names[1]:
                raise UsageError(f"baseline={name!r} is not a row; name one of the table")
        for name in [name for loss in self.loss for name in (loss.plain, *loss.columns)]:
            if name not in names[0]:
                raise UsageError(f"a loss names {name!r}, which is not a column; correct its name")

    @property
    def figures(self) -> list[str]:
        """All measures as they are shown: those that are derived behind the last of AURC."""
        areas = [place for place, name in enumerate(self.measures) if name.split()[-1] == "AURC"]
        at = 1 + (areas[-1] if areas else len(self.measures) - 1)
        return [*self.measures[:at], *self.derived, *self.measures[at:]]

    def shown(self, name: str) -> str:
        """What a row of this name is shown as."""
        return next(row.shown for row in self.row if row.name == name)

    def parts(self, name: str) -> tuple[str, str]:
        """What a row's title says that it is of, before a colon, and the rest; nothing, and its name."""
        of, _, rest = self.shown(name).rpartition(": ")
        return of, rest

    @property
    def baselines(self) -> list[str]:
        """The rows that others are tested against."""
        return list(dict.fromkeys(name for name in map(self.baseline_of, self.row) if name))

    def baseline_of(self, row: Row) -> str:
        """The row that another is tested against; nothing where there is none, or it is that row itself."""
        name = row.baseline or self.baseline
        return "" if name == row.name else name

    def _check_kind(self) -> None:
        """Complain of keys that this kind of table lacks, or has no use for."""
        if self.kind not in KEYS:
            raise UnknownName("kind of table", self.kind, KEYS)
        if self.stars and self.kind != "ranking":
            raise UsageError(f"a table of {self.kind} has no use for stars; leave them out")
        needed, possible = KEYS[self.kind]
        special = {key for keys in KEYS.values() for key in (*keys[0], *keys[1])} - needed - possible
        for place, holder in [
            ("", self),
            *((f"column {column.name!r}: ", column) for column in self.column if column.data),
            *((f"row {row.name!r}: ", row) for row in self.row if row.runs),
        ]:
            for each in dataclasses.fields(holder):  # type: ignore[arg-type]  # they are dataclasses
                given = bool(getattr(holder, each.name))
                if given and each.name in special:
                    raise UsageError(
                        f"{place}a table of {self.kind} has no use for {each.name}; leave it out"
                    )
                if not given and each.name in needed:
                    raise UsageError(f"{place}a table of {self.kind} needs {each.name}")
        for row in self.row:
            if bool(row.trainer) != bool(row.stage) or (row.trainer and row.ranker):
                raise UsageError(
                    f"row {row.name!r}: give it a ranker, or a trainer with at least one [[row.stage]]"
                )
            if row.early not in ("", "small", "full"):
                raise UsageError(f"row {row.name!r}: early={row.early!r} is not known; use small or full")

    def figure(self, row: Row, column: Column, measure: str, convention: str) -> float | None:
        """What the paper prints there."""
        for published in self.published:
            if (published.row, published.measure, published.convention) == (row.name, measure, convention):
                return published.values.get(column.name)
        return None


def slug(name: str) -> str:
    """The name as a file is called."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def read_recipe(path: Path) -> Table:
    """The table a recipe describes."""
    return toml.read_toml(Table, path)
