"""Trainers of cross-encoders, and what some of them are not to rest on."""
