"""Loaders of what people asked other people: forums, question sites and FAQs."""
