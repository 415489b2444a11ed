"""Questions about who did what to whom, beside answers in which the two have changed places."""

from __future__ import annotations

from collections.abc import Iterator

from demur.types import Pool

_DONE = (
    *(("beat", "beaten", "in the final"), ("taught", "taught", "for many years")),
    *(("hired", "hired", "in the spring"), ("sued", "sued", "over the contract")),
    *(("phoned", "phoned", "on Monday"), ("rescued", "rescued", "from the river")),
    *(("invited", "invited", "to the wedding"), ("paid", "paid", "for the work")),
    *(("followed", "followed", "to the station"), ("replaced", "replaced", "as head of the team")),
)
_PEOPLE = (
    *(("Anna Reed", "Paul Stone"), ("Maria Lopez", "Kenji Sato"), ("Omar Haddad", "Lucy Grant")),
    *(("Peter Falk", "Ingrid Berg"), ("Chen Wei", "Sofia Rossi")),
)


def swapped() -> Iterator[Pool]:
    """One pool for each deed, pair of people and voice: one answer says it as asked, the other swaps them."""
    for number, (did, done, when) in enumerate(_DONE):
        for pair, (one, other) in enumerate(_PEOPLE):
            active = [f"{a} {did} {b} {when}." for a, b in ((one, other), (other, one))]
            passive = [f"{b} was {done} by {a} {when}." for a, b in ((one, other), (other, one))]
            for voice, answers in (("active", active), ("passive", passive)):
                yield Pool.of(f"Who {did} {other}?", answers, [1, 0], id=f"{number}-{pair}-{voice}")
