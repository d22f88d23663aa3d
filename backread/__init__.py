"""Backread: self-hosted chat-history sync and recall."""

__version__ = "0.1.0"
