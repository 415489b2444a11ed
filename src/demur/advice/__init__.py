"""Advice: which ranker for the labels there are."""
