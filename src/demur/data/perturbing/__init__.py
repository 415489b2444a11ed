"""Texts and pools changed on purpose, to see what a ranker makes of them."""
