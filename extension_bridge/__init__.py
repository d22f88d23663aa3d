"""The browser extension and what receives from it. A sibling of `ingest` and `recall`: none of the
three imports another (see the import contracts in `pyproject.toml`)."""
