"""What is done with ties, cut-offs and pools without a positive: ours, and those of published codes.

Each published convention was read in its code. `fixed` is the default: the exact expectation under random
tie-breaking, every positive in the denominator, no cut-off unless the measure says one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from demur.errors import UnknownName, UsageError
from demur.specs import Spec, parse

TIES = ("expected", "input", "docid", "best", "worst")
"""Random order on average; order of input; document id, descending; positives first; positives last."""


@dataclass(frozen=True)
class Rules:
    """What a convention does for a measure."""

    ties: str = "expected"
    cutoff: int | None = None
    """For measures that say no cut-off themselves."""
    map_over: str = "all"
    """What MAP divides by: `all` positives, those `found` up to the cut-off, or all plus a millionth."""
    no_positive: str = "skip"
    """A pool without a positive is left out (`skip`) or counts as 0 (`zero`)."""
    absent: str = "zero"
    """The same for a judged query that the run does not know."""
    gain: str = "linear"
    """nDCG gains, if the measure says none: `linear`, the label itself, or `exp`, 2**label - 1."""
    single: bool = False
    """Scores are compared as 32-bit floats."""

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise UsageError(f"ties={self.ties!r} must be one of {', '.join(TIES)}")
        if self.map_over == "found" and self.ties == "expected":
            raise UsageError(
                "MAP over the positives found needs settled ties, not expected ones; "
                "choose another rule for ties"
            )


@dataclass(frozen=True)
class Convention:
    """Rules under a name, with other rules for some measures where a published code has them."""

    name: str
    rules: Rules
    exceptions: Mapping[str, Rules] = field(default_factory=dict)

    def rules_for(self, measure: str) -> Rules:
        """The rules for a measure of this name."""
        return self.exceptions.get(measure, self.rules)

    def with_no_positive(self, policy: str) -> Convention:
        """The same convention with one policy for pools without a positive; its name says what changed."""
        if policy not in ("skip", "zero"):
            raise UsageError(f"no_positive is {policy!r}; write skip or zero")
        rules = replace(self.rules, no_positive=policy)
        exceptions = {name: replace(other, no_positive=policy) for name, other in self.exceptions.items()}
        if rules == self.rules and exceptions == self.exceptions:
            return self
        return Convention(str(Spec(self.name, {"no_positive": policy})), rules, exceptions)


_SCAN = Rules(ties="input")

CONVENTIONS = {
    convention.name: convention
    for convention in (
        Convention("fixed", Rules()),
        # The scorer of SemEval-2016 task 3, and qa_matching: the first ten, in the order of input.
        Convention("semeval10", Rules(ties="input", cutoff=10, map_over="found", no_positive="zero")),
        # SCAN: MAP and RR leave out what has no positive, P and nDCG do not; nDCG comes from scikit-learn.
        Convention(
            "scan",
            _SCAN,
            {
                "P": replace(_SCAN, no_positive="zero"),
                "nDCG": Rules(ties="expected", no_positive="zero"),
            },
        ),
        # nn4nqa sorts pairs of score and label, so positives win every tie.
        Convention("nn4nqa", Rules(ties="best", map_over="smoothed", no_positive="zero")),
        Convention("matchzoo", Rules(ties="input", no_positive="zero", gain="exp")),
        # trec_eval without -c. It has counted queries without a relevant document as 0 since version 8.
        Convention("trec", Rules(ties="docid", no_positive="zero", absent="skip", single=True)),
        # Not for reporting: the most and the least that ties can make of a ranking.
        Convention("optimistic", Rules(ties="best")),
        Convention("pessimistic", Rules(ties="worst")),
    )
}


def convention(spec: str | Convention, no_positive: str | None = None) -> Convention:
    """The convention a spec names, such as ``fixed`` or ``fixed(no_positive=zero)``."""
    if isinstance(spec, Convention):
        found = spec
    else:
        wanted = parse(spec)
        if wanted.name not in CONVENTIONS:
            raise UnknownName("convention", wanted.name, CONVENTIONS)
        if wanted.at is not None or set(wanted.settings) - {"no_positive"}:
            raise UsageError(f"cannot read the convention {spec!r}; its only setting is no_positive")
        found = CONVENTIONS[wanted.name]
        no_positive = no_positive or str(wanted.settings.get("no_positive", "")) or None
    return found if no_positive is None else found.with_no_positive(no_positive)
