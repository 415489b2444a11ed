"""Which of several reports is better: paired tests, and whether reports can be compared at all."""
