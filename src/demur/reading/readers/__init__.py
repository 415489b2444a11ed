"""The readers: each quotes from a passage, or says that it holds no answer."""
