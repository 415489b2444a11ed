"""Nets that match the words of two texts."""
