"""Trainers that make or mend the labels for another trainer."""
