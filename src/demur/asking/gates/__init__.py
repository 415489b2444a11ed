"""Gates for questions asked of documents: with labels, without, and kept in a knowledge base."""
