"""Where a citation leads: Backread's own reader."""


def reader_link(origin: str, conversation_id: str, message_id: str = "") -> str:
    """The address of a conversation, opened at a message when one is given."""
    anchor = f"#m-{message_id}" if message_id else ""
    return f"{origin}/c/{conversation_id}{anchor}"


def file_link(origin: str, file_id: str, page: int, passage: int) -> str:
    """The address of a document, opened at a page with a passage marked."""
    return f"{origin}/files/{file_id}?page={page}&passage={passage}#passage"
