"""What a knowledge base holds for good: kb.sqlite, its tables, changes and labels."""
