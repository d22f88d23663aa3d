"""What browsers send of forms, as the rest of the program has it."""


def unix_lines(text: str) -> str:
    """The text of a field: forms send line ends as CR LF (HTML, "Constructing the entry list")."""
    return text.replace("\r\n", "\n")
