"""What clients send and get, and how errors are told."""
