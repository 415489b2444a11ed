"""One small reader for each dataset; each module's `LOADER` stands in the registry."""
