"""Clients that know nothing of demur, asking `demur serve`."""
