"""A knowledge base in PostgreSQL, with pgvector: tables on a server that many may share."""
