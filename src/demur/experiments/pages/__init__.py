"""Tables as pages: cells beside their baselines and beside what was published."""
