"""What every trainer is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from demur.errors import Astray, UsageError
from demur.rankers.base import Ranker
from demur.specs import Spec, Spelled, parse
from demur.types import Pool, listed

if TYPE_CHECKING:
    from torch import Tensor

Reporter = Callable[[dict[str, Any]], None]
"""Told about each epoch, or every few seconds: ``{"epoch", "loss", "dev", "pairs_per_second", …}``."""


def silent(facts: dict[str, Any]) -> None:
    """Progress to nobody."""


def sane(loss: float, what: str = "its loss is") -> float:
    """The loss of a step, if it is a finite number; after any other the weights would soon be none either."""
    if math.isfinite(loss):
        return loss
    raise Astray(
        f"training diverged: {what} not a finite number; lower learning_rate, or check that the scores of a "
        "teacher and the word vectors are finite"
    )


def sound(weights: Iterable[Tensor]) -> None:
    """Raise an error if a weight is not finite; after the last step no loss would show it."""
    for each in weights:
        sane(0.0 if each.isfinite().all() else math.nan, "one of its weights is")


_PASSING = ("epochs", "steps", "pairs_per_second", "seconds_left", "resumed")  # facts for who is waiting


def noting(log: list[dict[str, Any]], report: Reporter = silent) -> Reporter:
    """A report that also writes down what was seen of each epoch that is over."""

    def told(facts: dict[str, Any]) -> None:
        if "share" not in facts:  # of an epoch, which is not over
            log.append({key: value for key, value in facts.items() if key not in _PASSING})
        report(facts)

    return told


def _of_lists(train: Callable[..., Ranker]) -> Callable[..., Ranker]:
    """A way to train for which pools may come from a generator, and which refuses what is none."""

    @wraps(train)
    def trained(self: Trainer, pools: Sequence[Pool], dev: Sequence[Pool] = (), **more: Any) -> Ranker:
        return train(self, listed(pools), listed(dev), **more)

    return trained


class Trainer(Spelled, ABC):
    """A frozen dataclass whose fields are its settings; among them is ``seed``, if it draws anything."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "train" in cls.__dict__:
            cls.train = _of_lists(cls.train)  # type: ignore[method-assign]

    reads: ClassVar[bool] = False
    """Whether what it makes quotes from passages, and ranks only by the way."""

    @property
    def inner(self) -> str:
        """The spec of the trainer that it has do the work; empty if it does it itself."""
        return ""

    @property
    def votes(self) -> bool:
        """Whether it makes a committee."""
        return False

    @property
    def one_of_votes(self) -> bool:
        """Whether it makes one net out of a committee, of whatever kind its members are."""
        return False

    @property
    def kept(self) -> set[int]:
        """The epochs whose nets are members of its committee for sure, as far as one can tell before."""
        return set()

    @property
    def tuned(self) -> bool:
        """Whether the vectors of words learn along."""
        return False

    @property
    def features(self) -> str:
        """The spec of the embedder whose vectors it learns from, if it does."""
        return ""

    @property
    def precision(self) -> str:
        """What it computes in, if that can be said."""
        return ""

    @property
    def known_by(self) -> str:
        """The spelling that keys of kept models hold: settings that are off (0, false, empty) are left out.

        So a setting that comes new, and is off unless said, leaves what was learnt before it as it is.
        """
        said = parse(self.spec)
        return str(Spec(said.name, {key: value for key, value in said.settings.items() if value}))

    @property
    def depends(self) -> str:
        """What the result depends on besides settings and pools, such as a hash of the vectors of words."""
        return ""

    def sees(self, pool: Pool) -> list[Any]:
        """What of a pool the result depends on, for keys of kept models."""
        return [pool.id, pool.question, [[c.id, c.text, c.label] for c in pool.candidates]]

    def check(self, pools: Sequence[Pool], dev: Sequence[Pool] = ()) -> None:
        """Raise an error if nothing can be learnt from these; all stages are looked at before the first."""

    @property
    def goes_on_from(self) -> tuple[type[Trainer], ...]:
        """The trainers that make what it can start from; none where it does not say."""
        return ()

    def follows(self, before: Trainer | None) -> None:
        """Raise an error if it cannot go on from what that trainer makes, or be first, before any is run."""
        from demur.training import innermost

        made, kinds = innermost(before), self.goes_on_from
        if before is None or made is None or not kinds or isinstance(made, kinds):
            return
        if self.reads or not made.one_of_votes:
            names = " or ".join(dict.fromkeys(each.name for each in kinds))
            raise UsageError(f"{self.name} cannot start from what {before.name} makes; start from {names}")

    @abstractmethod
    def train(
        self,
        pools: Sequence[Pool],
        dev: Sequence[Pool] = (),
        *,
        start: Ranker | None = None,
        checkpoints: Path | None = None,
        report: Reporter = silent,
    ) -> Ranker:
        """The ranker that these pools teach: from scratch, or from where `start`, of its kind, had come to.

        Labels above 0 are right; of grades, such as ANTIQUE's, give `demur.data.binary` of the pools, as
        recipes do. Without `dev` there is no early stopping. Where `checkpoints` is a folder, long training
        goes on from what lies there after a kill, with the same result as if it had not been killed.
        """
