"""Rankers that count the words that question and answer share, and what they count with."""
