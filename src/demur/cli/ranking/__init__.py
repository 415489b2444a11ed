"""`demur rank` and `demur score`, and how a score is explained."""
