"""``python -m demur`` is the same as ``demur``."""

from demur.cli.main import main

if __name__ == "__main__":
    main()
