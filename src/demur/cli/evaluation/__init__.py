"""`demur evaluate`, `compare`, `plot` and `advise`: what is measured, and how it is shown."""
