"""What schemathesis says of `demur serve`: its exit code, after trying all that the OpenAPI page says."""

from __future__ import annotations

import subprocess
import sys
import tempfile

_CASES = "500"  # for each operation that takes a body


def main() -> int:
    """The exit code of schemathesis."""
    command = [sys.executable, "-m", "demur", "serve", "--example", "--port", "0", "--no-access-log"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as server:
        assert server.stderr is not None
        try:
            url = server.stderr.readline().decode().split()[3].rstrip(";")
            assert b'"ready"' in server.stderr.readline()
            words = [sys.argv[1], "run", f"{url}/openapi.json", "--max-examples", _CASES]
            return subprocess.run(words, cwd=tempfile.gettempdir(), check=False).returncode
        finally:
            server.terminate()


if __name__ == "__main__":
    sys.exit(main())
