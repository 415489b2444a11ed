"""Nets that find an answer in a passage, and probes of what they know."""
