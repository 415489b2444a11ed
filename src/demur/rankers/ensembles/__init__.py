"""Rankers that are made of other rankers."""
