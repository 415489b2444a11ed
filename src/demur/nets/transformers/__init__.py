"""What is put on and into a Hugging Face encoder: heads, quick attention, cheap dropout."""
