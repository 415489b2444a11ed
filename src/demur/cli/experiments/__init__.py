"""`demur reproduce`: tables of papers, run again."""
