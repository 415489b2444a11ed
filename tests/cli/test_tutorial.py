"""The tutorials are followed from the first line to the last, and a command prints what its page says."""

from __future__ import annotations

import re
import shutil
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tools import tutorials

from demur.asking import packaged
from laws.test_readme import parsed

PAGES = {path.stem: path.read_text("utf-8") for path in tutorials.PAGES}
LACKING = [name for name in ("fastapi", "pyarrow") if find_spec(name) is None]
LACKING += [name for name in ("bash", "curl") if shutil.which(name) is None]
pytestmark = [
    pytest.mark.skipif(packaged.usual() is None, reason="no model came with this copy"),
    pytest.mark.skipif(bool(LACKING), reason=f"not here: {LACKING}"),
]
RAY = re.compile("--engine ray|scored-ray")


def follow(name: str, folder: Path, *, ray: bool) -> int:
    """How many commands of a page print what it says."""
    with tutorials.Desk(folder) as desk:
        done = list(
            tutorials.follow(PAGES[name], desk, lambda command: not ray and bool(RAY.search(command)))
        )
    for command, said, printed in done:
        assert tutorials.alike(said, printed), f"{command}\nprints\n{printed}\nand the page says\n{said}"
    return len(done)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_followed(name: str, tmp_path: Path) -> None:
    assert follow(name, tmp_path, ray=False) > 5


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed; pip install 'demur[ray]'")
def test_with_ray(tmp_path: Path) -> None:
    typed = re.findall(r"^\$ (.+)$", PAGES["scale"], re.M)
    assert follow("scale", tmp_path, ray=True) == len(typed)


@pytest.mark.parametrize("name", PAGES)
def test_what_is_not_run_exists(name: str) -> None:
    lines = "".join(re.findall(r"^```sh\n(.*?)^```$", PAGES[name], re.M | re.S)).splitlines()
    project: dict[str, Any] = tomllib.loads((tutorials.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    known = project["optional-dependencies"]
    assert lines[:2] == ["python3 -m venv env", ". env/bin/activate"] and "pip install 'SOURCE" in lines[2]
    for line in lines[2:]:
        extras = [extra for named in re.findall(r"\[(.+?)\]", line) for extra in named.split(",")]
        assert set(extras) <= set(known), line
        assert not line.startswith("demur ") or parsed(line.replace("~", "")).params


def test_other_pages_show_no_output() -> None:
    docs = (path for path in (tutorials.ROOT / "docs").rglob("*.md") if path not in tutorials.PAGES)
    assert [path.name for path in docs if "```console" in path.read_text("utf-8")] == []


def test_another_output_is_noticed() -> None:
    assert tutorials.alike("bound 19.53 % of\n 30\n", "bound  19.6 % of 30")
    assert not tutorials.alike("bound 19.53 %", "bound 29.53 %") and not tutorials.alike(
        "30 of 55", "31 of 55"
    )


def test_fractions_are_made_anew_where_lines_stay() -> None:
    assert (
        tutorials.with_fractions("bound 19.53 % of\n 30\n", "bound  19.6 % of 30") == "bound 19.6 % of\n 30\n"
    )


def test_a_block_that_is_neither_file_nor_command_is_refused(tmp_path: Path) -> None:
    with tutorials.Desk(tmp_path) as desk, pytest.raises(ValueError, match="a block of python is neither"):
        list(tutorials.follow("```python\n1\n```\n", desk, lambda _: False))
