"""Committees, and training against an adversary that makes them."""
