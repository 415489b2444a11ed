"""Rankers that pair the words of a question with those of an answer."""
