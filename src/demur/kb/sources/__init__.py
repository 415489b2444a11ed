"""The files of a knowledge base: by which paths they are known, and which are meant."""
