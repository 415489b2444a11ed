from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from laws import toys


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of the test's own, to be changed."""
    return Path(shutil.copytree(toys.bert(), tmp_path / "model"))
