"""The command line: a file for each verb, and what they share."""
