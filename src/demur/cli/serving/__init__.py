"""`demur serve` and `demur mcp`."""
