"""Metadata as people write it: a line an entry, `status = active`.

A value that is JSON (`3`, `true`, `null`, `"3"`) is that; everything else is a text.
"""

import json
from typing import Any

from backread.errors import InvalidInput


def to_lines(fields: dict[str, Any]) -> str:
    return "\n".join(f"{key} = {_written(value)}" for key, value in fields.items())


def from_lines(text: str) -> dict[str, Any]:
    """Raises InvalidInput for a line without `=` and for a key that comes twice."""
    fields: dict[str, Any] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        key, sign, value = line.partition("=")
        key = key.strip()
        if not sign or not key:
            raise InvalidInput(
                f"The metadata line “{line.strip()[:80]}” is not understood.",
                hint="Write one entry a line, for instance: status = active",
            )
        if key in fields:
            raise InvalidInput(f"The metadata has “{key[:80]}” twice.")
        fields[key] = _read(value.strip())
    return fields


def _written(value: Any) -> str:
    if isinstance(value, str) and "\n" not in value and value == value.strip():
        return value if _read(value) == value else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def _read(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, list | dict) else value
