"""One reader for each kind of document: text, tables and questions become passages."""
