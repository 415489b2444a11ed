"""The command line: a file for each verb, in a folder named like the room that it calls."""
