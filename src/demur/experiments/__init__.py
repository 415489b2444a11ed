"""Tables of papers, run again: TOML recipes -> runs -> results, each run once and kept."""
