"""Licences are known, and none in the core reaches further than its own files."""

from __future__ import annotations

from email.message import Message

import pytest
from tools import licences
from tools.installed import ROOT, plain


def test_the_page_lists_every_package_and_finds_no_fault() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    listed = licences.written()
    assert list(listed) == sorted(plain(line.split("==")[0]) for line in lines if not line.startswith("#"))
    assert licences.faults(listed) == []
    assert {name for name, (_, by) in listed.items() if by == "core"} >= {"numpy", "scipy", "onnxruntime"}
    assert listed["psycopg"] == ("LGPL-3.0-only", "postgres")


def test_copyleft_in_the_core_and_unknown_licences_are_faults() -> None:
    found = {
        "a": ("MIT AND LGPL-2.1-only", "core"),
        "b": (licences.UNKNOWN, "tests, tools"),
        "c": ("LGPL-3.0-only", "postgres"),
        "d": ("LGPL-3.0-only OR MIT", "core"),
        "e": ("MPL-2.0 AND MIT", "core"),
    }
    assert [line.partition(":")[0] for line in licences.faults(found)] == ["a", "b"]


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ({"License-Expression": "MIT", "License": "other"}, "MIT"),
        ({"License": "Apache 2.0"}, "Apache-2.0"),
        (
            {"License": "Copyright 2001 of many", "Classifier": "License :: OSI Approved :: BSD License"},
            "BSD",
        ),
        ({"License": "as you like"}, licences.UNKNOWN),
        ({"License-Expression": "GPL-3.0-only"}, licences.UNKNOWN),
        ({}, licences.UNKNOWN),
    ],
)
def test_what_a_package_says_is_read(
    told: dict[str, str], meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = Message()
    for key, value in told.items():
        message[key] = value
    monkeypatch.setattr(licences, "metadata", lambda name: message)
    assert licences.licence("x") == meant


def test_what_is_not_installed_is_left_to_the_page() -> None:
    assert licences.licence("there-is-no-such-package") is None
