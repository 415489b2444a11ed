"""Methods tried on a user's own labels, and what they cost."""
