"""Trainers of small nets: over vectors of texts, and of nets that match words."""
