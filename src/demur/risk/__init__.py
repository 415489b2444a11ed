"""When to answer and when to demur: confidence, risk and coverage, and a gate with a promise."""
