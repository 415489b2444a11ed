"""`demur ask` and `demur kb`, and how answers are shown."""
