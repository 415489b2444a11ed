"""Scripts of the workshop; nothing here is installed."""
