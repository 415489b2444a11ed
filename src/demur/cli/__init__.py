"""The command line: a file for each verb, beside the verbs that are most like it."""
