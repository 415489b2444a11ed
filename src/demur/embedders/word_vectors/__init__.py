"""Word vectors: read from files, trained on texts, and averaged."""
