"""A knowledge base on an object store: LanceDB tables that one writes at a time, and very many read."""
