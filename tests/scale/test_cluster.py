"""How Ray is begun, as far as that needs no Ray."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from demur.scale import cluster


@pytest.mark.parametrize(
    ("address", "there", "said", "mode"),
    [
        ("head:6379", True, None, "token"),
        ("head:6379", True, "disabled", "disabled"),
        ("head:6379", False, None, None),
        (None, True, None, None),
    ],
)
def test_a_token_that_is_here_is_shown_to_a_cluster(
    address: str | None,
    there: bool,
    said: str | None,
    mode: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "_ray", lambda: None)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_AUTH_MODE"):
        monkeypatch.setenv(name, said or "")
        if said is None or name != "RAY_AUTH_MODE":
            monkeypatch.delenv(name)
    if there:
        (tmp_path / ".ray").mkdir()
        (tmp_path / ".ray" / "auth_token").write_text("abc", "utf-8")
    cluster.Cluster(address)
    assert os.environ.get("RAY_AUTH_MODE") == mode
