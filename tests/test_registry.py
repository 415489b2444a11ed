"""Settings are of the kind that the thing's fields say, whoever builds it."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import numpy as np
import pytest

import demur
from demur import registry
from demur.errors import UsageError
from demur.risk import qualifier


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("bm25(k1=abc)", "k1=abc of ranker 'bm25' must be a number; write it as in k1=1.5"),
        ("bm25(k1=inf)", "k1=inf of ranker 'bm25' must be a number"),
        ("bm25(k1=nan)", "must be a number"),
        (f"bm25(k1={'9' * 400})", "must be a number"),
        ("bm25(b=true)", "must be a number"),
        ("bm25(stats=5)", """must be a text; write stats="5\""""),
        ("bm25(stem=5)", "stem=5 of ranker 'bm25' must be a text"),
        ("overlap(weighted=maybe)", "must be true or false; write it as in weighted=true"),
        ("overlap(weighted=1)", "must be true or false"),
        ("random(seed=abc)", "must be a whole number; write it as in seed=0"),
        ("random(seed=1.5)", "must be a whole number"),
        ("bm25@5", "a ranker has no @"),
    ],
)
def test_settings_of_another_kind_are_one_clear_line(spec: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        demur.ranker(spec)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_all_that_is_built_by_name_is_checked() -> None:
    with pytest.raises(UsageError, match="temperature=hot of qualifier 'softmax' must be a number"):
        qualifier("softmax", temperature="hot")


def test_a_whole_number_is_a_number_and_quotes_make_a_text() -> None:
    assert demur.ranker("bm25(k1=2)") == demur.ranker("bm25", k1=2.0)
    assert demur.ranker("random", seed=int(np.int64(3))).spec == "random(seed=3)"
    assert 'stats="5"' in demur.ranker('bm25(stats="5")').spec


def test_what_is_built_already_takes_no_settings() -> None:
    with pytest.raises(UsageError, match="is built already and takes no k1"):
        demur.ranker(demur.ranker("bm25"), k1=3)


def test_things_of_other_packages_may_say_no_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find", lambda kind, name: lambda size=3, *, deep=None: (size, deep))
    assert registry.build("ranker", "theirs(size=2, deep=any)") == (2, "any")


def test_a_package_that_is_broken_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from demur.errors import MissingExtra, require

    (tmp_path / "brokenpackage.py").write_text("raise ImportError('libfoo.so: no such file')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(MissingExtra, match=r"installed but cannot be imported \(libfoo.so: no such file\)"):
        require("brokenpackage", extra="encoder")


def test_what_is_installed_is_looked_up_once_and_a_new_path_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = importlib.metadata.entry_points

    def looked_up(group: str) -> importlib.metadata.EntryPoints:
        asked.append(group)
        return real(group=group)

    monkeypatch.setattr(importlib.metadata, "entry_points", looked_up)
    registry._installed.cache_clear()
    assert all(registry.names("qualifier") for _ in range(5)) and asked == ["demur.qualifier"]
    facts = tmp_path / "theirs-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[demur.qualifier]\nsure = demur.risk.qualifiers.base:Top\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert qualifier("sure").name == "top" and "sure" in registry.names("qualifier")
