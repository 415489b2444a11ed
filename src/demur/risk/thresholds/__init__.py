"""The choice of a threshold that keeps a risk, the rules to compare it with, and a test of its promise."""
