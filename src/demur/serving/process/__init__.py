"""How the server runs: its queue, its jobs, its figures, and how it stops."""
