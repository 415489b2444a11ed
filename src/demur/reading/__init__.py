"""Answers as stretches of text: when two say the same, and what other systems have answered."""
