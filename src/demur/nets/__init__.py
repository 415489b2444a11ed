"""Networks in pure torch, one to a file, the shape beside each line."""
