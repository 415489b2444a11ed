"""The two small nets of the scarce-annotations paper, over vectors of texts."""
