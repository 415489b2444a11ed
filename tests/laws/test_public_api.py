"""Nothing that users call changes by accident."""

from __future__ import annotations

import pytest

from laws import public_api


def told(was: list[str], now: list[str]) -> str:
    """What differs, and what to do about it."""
    gone = [f"- {line}" for line in was if line not in now]
    new = [f"+ {line}" for line in now if line not in was]
    if not gone and not new:
        return ""
    fix = "new names are free to come: run `make api` and commit public_api.txt"
    if gone:
        fix = (
            "what went or changed breaks users' code: keep the old way for a version, with a warning "
            "(CONTRIBUTING.md, Change what users rely on); if that is done, run `make api` and commit "
            "public_api.txt"
        )
    return "\n".join(["the public names are others than in public_api.txt", *gone, *new, fix])


@pytest.mark.extras
def test_public_names_and_signatures_are_as_written_down() -> None:
    was = public_api.GOLDEN.read_text("utf-8").splitlines()
    assert not (difference := told(was, public_api.lines())), difference


def test_a_change_is_told_with_what_to_do() -> None:
    was = ["demur.ask(question: str)", "demur.load(id: str)"]
    assert told(was, was) == ""
    assert "run `make api`" in told(was, [*was, "demur.new()"])
    changed = told(was, ["demur.ask(text: str)", "demur.load(id: str)"])
    assert "- demur.ask(question: str)\n+ demur.ask(text: str)" in changed and "with a warning" in changed


def test_a_signature_that_changes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_api, "ROOMS", ())
    before = public_api.lines()
    monkeypatch.setattr("demur.types.Pool.of", classmethod(lambda cls, question, texts: cls(question, texts)))
    changed = set(before) ^ set(public_api.lines())
    assert {line.partition("(")[0] for line in changed} == {"demur.Pool.of"}
