"""`demur train`, `export` and `vectors`."""
