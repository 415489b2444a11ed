"""Folders of files, scored by one process or by many workers."""
