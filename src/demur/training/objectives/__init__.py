"""What training minimises: one objective to a file."""
