"""Where a citation leads: Backread's own reader."""


def reader_link(origin: str, conversation_id: str, message_id: str = "") -> str:
    """The address of a conversation, opened at a message when one is given."""
    anchor = f"#m-{message_id}" if message_id else ""
    return f"{origin}/c/{conversation_id}{anchor}"
