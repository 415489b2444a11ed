"""What a server asks: given texts, or a knowledge base with its labels and its gate."""
