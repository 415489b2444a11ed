"""Gates: calibrated on labelled questions, kept as files, checked on new questions."""
