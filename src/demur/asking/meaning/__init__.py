"""Passages found by words and by meaning, and ranked by their chance of being right."""
