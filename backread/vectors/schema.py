"""How points lie in the index: names and payload fields, the same embedded and on a server.

Each collection has one sparse vector for words and one dense vector per embedding model that
vectors have come from. A model has its own vector name, so changing the model leaves word search
as it is and can never compare vectors of two models.
"""

import hashlib

from backread.vectors.bm25 import BM25_VERSION

# Raise it when the layout changes; an index of another version is left alone and built anew.
SCHEMA_VERSION = 1

WORDS = "words"

ACCOUNT = "account_id"
GROUP = "group"
PLATFORM = "platform"
TIME = "ts"  # milliseconds since 1970; absent when the time is not known

# Links per point in the graph of an account's own vectors; there is no graph across accounts.
ACCOUNT_GRAPH_LINKS = 16


def dense_name(embedding_signature: str) -> str:
    """Name of the vector that holds what this embedding model made."""
    digest = hashlib.blake2b(embedding_signature.encode(), digest_size=8).hexdigest()
    return f"dense_{digest}"


def lexical_signature(generation: str) -> str:
    """Names tokeniser, layout and this very index: `generation` is drawn when it is created, so
    an index that was lost and made again does not pass for the one that texts were put in."""
    return f"bm25.{BM25_VERSION}-schema.{SCHEMA_VERSION}-{generation}"
