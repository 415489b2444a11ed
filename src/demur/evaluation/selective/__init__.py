"""Answers with a confidence: measures of when to answer, and intervals for them."""
