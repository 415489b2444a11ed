"""demur beside other libraries, in one run, in turns, on the same weights, data and number of threads."""
