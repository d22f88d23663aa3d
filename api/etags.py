"""Entity tags (RFC 9110 §8.8.3 and §13.1): which version of a thing a request is about."""

import re

from backread.errors import InvalidInput

ANY = "*"
_TAG = re.compile(r'(?:W/)?"([^"]*)"')


def etag_of(version: str | int) -> str:
    """The strong tag of a version."""
    return f'"{version}"'


def expected_version(if_match: str) -> str | None:
    """The version that an If-Match header with one tag names; `*` for any that is there, None
    without a header. A weak tag never matches (RFC 9110 §13.1.1), so it is refused like what is no
    tag: InvalidInput."""
    text = if_match.strip()
    if not text or text == ANY:
        return text or None
    found = _TAG.fullmatch(text)
    if found is None or text.startswith("W/"):
        raise InvalidInput(
            "If-Match does not hold one strong ETag.", hint="Send back the ETag of your GET."
        )
    return found[1] or "-"


def names_version(if_none_match: str, version: str | int) -> bool:
    """Whether an If-None-Match header names the version, by itself or in a list. Weak tags match
    (RFC 9110 §13.1.2)."""
    return if_none_match.strip() == ANY or str(version) in _TAG.findall(if_none_match)
