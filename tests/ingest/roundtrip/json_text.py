"""JSON as platforms write it: in UTF-8, and with escapes for what UTF-8 cannot hold."""

import json
from collections.abc import Iterable
from typing import Any


def json_bytes(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def as_lines(values: Iterable[Any]) -> bytes:
    return b"".join(json_bytes(value) + b"\n" for value in values)
