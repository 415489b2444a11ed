"""``python -m demur`` is the same as ``demur``."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it in peace from the first moment on."""
    try:
        from demur.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
