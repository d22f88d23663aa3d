"""Metadata of records: names with JSON scalars, to filter by."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from backread.errors import InvalidInput, LimitExceeded
from recall.folders.texts import check_storable

MOST_FIELDS = 100
MAX_KEY = 100
MAX_VALUE = 2000  # characters of a text

Fields = dict[str, Any]


def checked_fields(given: Mapping[str, Any]) -> Fields:
    """Metadata as it is stored. Raises InvalidInput for a name or value that cannot be,
    LimitExceeded for too many or too long ones."""
    if len(given) > MOST_FIELDS:
        raise LimitExceeded(f"A record may have {MOST_FIELDS} metadata fields.")
    return {checked_key(key): checked_value(key, value) for key, value in given.items()}


def checked_conditions(given: Iterable[tuple[str, Any]]) -> list[tuple[str, object]]:
    """Conditions to filter by, all of which must hold. Raises as `checked_fields`."""
    conditions = [(checked_key(key), checked_value(key, value)) for key, value in given]
    if len(conditions) > MOST_FIELDS:
        raise LimitExceeded(f"A filter may have {MOST_FIELDS} conditions.")
    return conditions


def checked_key(key: str) -> str:
    check_storable("the name of a metadata field", key)
    if not key.strip() or len(key) > MAX_KEY:
        raise InvalidInput(f"A metadata key has 1 to {MAX_KEY} characters.")
    return key


def checked_value(key: str, value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise InvalidInput(f"The number in metadata “{key}” is too large.")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"The number in metadata “{key}” is not finite.")
        return value
    if isinstance(value, str):
        check_storable(f"metadata “{key}”", value)
        if len(value) > MAX_VALUE:
            raise LimitExceeded(
                f"The text in metadata “{key}” has {len(value)} characters; {MAX_VALUE} are "
                "allowed.",
                hint="Put long texts into the content.",
            )
        return value
    raise InvalidInput(
        f"The value of metadata “{key}” is a list or an object.",
        hint="Give a text, a number, true, false or null.",
    )
