"""Figures drawn from the results that are kept."""
