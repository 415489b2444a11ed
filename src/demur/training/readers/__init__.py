"""Trainers of readers, and of mini, which ranks, reads and says how sure it is."""
