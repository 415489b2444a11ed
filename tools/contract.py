"""What schemathesis says of `demur serve`: its exit code, after trying all that the OpenAPI page says."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

_CASES = "500"  # for each operation that takes a body
_PATIENCE = "60"  # seconds for an answer, as the machine may have other work
_REFUSABLE = ("POST /v1/calibrate", "POST /v1/documents", "POST /v1/labels")
"""What is well formed may still be refused here, by what is in the base or in the file."""
_ALSO_TAKEN = ("GET /v1/labels/next",)
"""Of a name that stands twice in the address, the last counts; any text may be a question."""


def settings() -> str:
    """What schemathesis is told of single operations."""
    lines = []
    for name in _REFUSABLE:
        fine = '["2xx", "401", "403", "404", "409", "422", "429"]'
        lines += ["[[operations]]", f'include-name = "{name}"']
        lines += [f"checks.positive_data_acceptance.expected-statuses = {fine}", ""]
    for name in _ALSO_TAKEN:
        lines += ["[[operations]]", f'include-name = "{name}"']
        lines += ["checks.negative_data_rejection.enabled = false", ""]
    return "\n".join(lines)


def main() -> int:
    """The exit code of schemathesis."""
    command = [sys.executable, "-m", "demur", "serve", "--example", "--port", "0", "--no-access-log"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stderr=subprocess.PIPE) as server,
    ):
        assert server.stderr is not None
        try:
            url = server.stderr.readline().decode().split()[3].rstrip(";")
            if not any(b'"ready"' in line for line in server.stderr):
                raise RuntimeError("demur serve ended before it was ready")
            told = Path(folder, "schemathesis.toml")
            told.write_text(settings(), "utf-8")
            words = [
                str(Path(sys.argv[1]).absolute()),
                "--config-file",
                str(told),
                "run",
                f"{url}/openapi.json",
            ]
            words += ["--max-examples", _CASES, "--request-timeout", _PATIENCE]
            return subprocess.run(words, cwd=folder, check=False).returncode
        finally:
            server.terminate()


if __name__ == "__main__":
    sys.exit(main())
