"""`demur calibrate`: gates, and how their promises are told."""
