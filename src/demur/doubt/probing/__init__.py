"""Probes of a reader's layers, taught and used."""
