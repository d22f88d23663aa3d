"""Texts that every database and every client can carry."""

import re

from backread.errors import InvalidInput

# PostgreSQL stores no NUL, and half of a pair of surrogates is no character in UTF-8: one such
# text would keep a whole page of records from being sent.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def check_storable(what: str, text: str) -> None:
    """Raises InvalidInput for a text with NUL or half of a character in it. `what` names the text
    in front of people, such as "the name"."""
    if _UNSTORABLE.search(text):
        raise InvalidInput(
            f"There is a character in {what} that cannot be stored.",
            hint="Take out NUL characters and broken emoji.",
        )
