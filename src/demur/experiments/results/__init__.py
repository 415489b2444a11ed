"""Results of runs as files: where they come from, and whether they still hold."""
