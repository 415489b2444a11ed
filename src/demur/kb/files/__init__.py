"""Files and folders as passages, read in a process apart."""
