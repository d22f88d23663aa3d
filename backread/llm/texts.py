"""Texts as embedding models want them."""

# What a model was trained to see before a question and before a passage (from the model cards),
# found by a part of its name.
_PREFIXES = {
    "e5-": ("query: ", "passage: "),
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "mxbai-embed": ("Represent this sentence for searching relevant passages: ", ""),
}


def prefixes_of(model_name: str) -> tuple[str, str]:
    """The prefix of a query and of a passage; empty for a model that wants none."""
    for part, prefixes in _PREFIXES.items():
        if part in model_name.lower():
            return prefixes
    return "", ""


def sendable(text: str) -> str:
    """The text with half a surrogate pair, as cut-off JSON escapes leave it, replaced: it is no
    character, and neither tokenizers nor networks take it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
