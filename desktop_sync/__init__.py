"""The agent for people's own machines. It may import only the kernel's words (`backread.domain`,
`.wire`, `.errors`, `.identity`, `.crypto`, `.log`), so that its install stays small; the import
contracts in `pyproject.toml` hold that line from the start."""
