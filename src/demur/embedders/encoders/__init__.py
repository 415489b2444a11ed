"""Sentence encoders: found, loaded, and run with torch or without."""
