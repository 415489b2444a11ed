"""The service: one session behind HTTP, in the words of clients that are there already."""
