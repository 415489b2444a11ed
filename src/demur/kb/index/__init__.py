"""What is derived from the truth to find passages: by words and by meaning."""
