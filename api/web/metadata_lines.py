"""Metadata as people write it: a line an entry, `status = active`.

A value that is JSON (`3`, `true`, `null`, `"3"`) is that; everything else is a text. A name that
would be misread, since it holds `=` or a line end, is written as a JSON text.
"""

import json
import re
from typing import Any

from backread.errors import InvalidInput

_CUT = re.compile(r"[\r\n]")  # where a form begins another line


def to_lines(fields: dict[str, Any]) -> str:
    """Lines that `from_lines` reads as just these fields."""
    return "\n".join(f"{_name(key)} = {_written(value)}" for key, value in fields.items())


def from_lines(text: str) -> dict[str, Any]:
    """Raises InvalidInput for a line without `=` and for a key that comes twice."""
    fields: dict[str, Any] = {}
    for line in text.replace("\r\n", "\n").split("\n"):
        if not line.strip():
            continue
        key, sign, value = _parted(line.strip())
        if not sign or not key:
            raise InvalidInput(
                f"The metadata line “{line.strip()[:80]}” is not understood.",
                hint="Write one entry a line, for instance: status = active",
            )
        if key in fields:
            raise InvalidInput(f"The metadata has “{key[:80]}” twice.")
        fields[key] = _read(value.strip())
    return fields


def _parted(line: str) -> tuple[str, str, str]:
    if line.startswith('"'):
        try:
            key, end = json.JSONDecoder().raw_decode(line)
        except ValueError:
            pass
        else:
            if line[end:].lstrip().startswith("="):
                return key, "=", line[end:].lstrip()[1:]
    key, sign, value = line.partition("=")
    return key.strip(), sign, value


def _name(key: str) -> str:
    is_plain = key == key.strip() and not key.startswith('"') and not _CUT.search(key)
    return key if is_plain and "=" not in key else json.dumps(key, ensure_ascii=False)


def _written(value: Any) -> str:
    if isinstance(value, str) and not _CUT.search(value) and value == value.strip():
        return value if _read(value) == value else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def _read(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, list | dict) else value
