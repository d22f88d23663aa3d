"""Opaque texts that say where a page of a list ended: JSON that fits into an address."""

import base64
import binascii
from typing import Any

import orjson


def pack(place: list[Any]) -> str:
    """`unpack` takes it back."""
    return base64.urlsafe_b64encode(orjson.dumps(place)).decode().rstrip("=")


def unpack(text: str) -> list[Any]:
    """Raises ValueError for what `pack` did not make."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError(text) from error
    place = orjson.loads(raw)
    if not isinstance(place, list):
        raise ValueError(text)
    return place
