"""Which of the tried methods to take, by labels and by what our own runs say."""
