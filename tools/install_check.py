"""The wheel in empty environments: by pip, uv and pipx on each Python, each asked a question of the example.

python -m tools.install_check WHEEL FOLDER_OF_PIP_UV_AND_PIPX PYTHON…
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import which

from tools.installed import ROOT

QUESTION, ANSWER = "What should I do when I have lost my membership card?", "Tell the desk"
SIZE = "from tools.size import core_megabytes; print(core_megabytes())"


def run(*command: str | Path, here: Path, **more: str | Path) -> str:
    """What a program prints; it runs in a folder apart, without the settings of this one's Python."""
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment: Mapping[str, str] = kept | {key: str(value) for key, value in more.items()}
    done = subprocess.run(
        list(map(str, command)), cwd=here, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def by_pip(wheel: Path, tools: Path, python: Path, here: Path) -> Path:
    """The command, installed by pip; the size of the core is printed."""
    run(python, "-m", "venv", here / "env", here=here)
    run(here / "env/bin/pip", "install", "--quiet", wheel, here=here)
    size = run(here / "env/bin/python", "-c", SIZE, here=here, PYTHONPATH=ROOT).strip()
    print(f"{python.name}: the core takes {size} MB")
    return here / "env/bin/demur"


def by_uv(wheel: Path, tools: Path, python: Path, here: Path) -> Path:
    """The command, installed by uv."""
    places: dict[str, str | Path] = {
        "UV_TOOL_DIR": here / "tools",
        "UV_TOOL_BIN_DIR": here / "bin",
        "UV_LINK_MODE": "copy",
    }
    words = ("--quiet", "--no-python-downloads", "--python", python)
    run(tools / "uv", "tool", "install", *words, wheel, here=here, **places)
    return here / "bin/demur"


def by_pipx(wheel: Path, tools: Path, python: Path, here: Path) -> Path:
    """The command, installed by pipx."""
    places: dict[str, str | Path] = {
        "PIPX_HOME": here / "pipx",
        "PIPX_BIN_DIR": here / "bin",
        "PIPX_MAN_DIR": here / "man",
    }
    run(tools / "pipx", "install", "--quiet", "--python", python, wheel, here=here, **places)
    return here / "bin/demur"


def interpreters(names: Sequence[str]) -> list[Path]:
    """The programs of these names, all looked for before anything is installed."""
    code = "import sys; print(getattr(sys, '_base_executable', sys.executable))"
    found = {}
    for name in filter(which, names):
        done = subprocess.run([name, "-c", code], capture_output=True, text=True)
        if not done.returncode:
            found[name] = Path(done.stdout.strip())
    if missing := [name for name in names if name not in found]:
        what = f"{', '.join(missing)} cannot be run here; say which Pythons there are"
        raise SystemExit(f"{what}: make install-check PYTHONS='python3.11 /path/to/python3.12'")
    return list(found.values())


def main() -> None:
    """Install and ask, one after the other; the first that fails ends it."""
    wheel, tools = Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()
    for python in interpreters(sys.argv[3:]):
        for way in (by_pip, by_uv, by_pipx):
            with tempfile.TemporaryDirectory() as folder:
                here = Path(folder)
                command = way(wheel, tools, python, here)
                said = run(
                    command, "ask", QUESTION, "--example", "--top", "1", here=here, DEMUR_CACHE=here / "cache"
                )
                if ANSWER not in said:
                    raise SystemExit(f"{command} does not answer with {ANSWER!r}:\n{said}")
            print(
                f"{python.name}, {way.__name__.removeprefix('by_')}: installed, and the example answers",
                flush=True,
            )


if __name__ == "__main__":
    main()
