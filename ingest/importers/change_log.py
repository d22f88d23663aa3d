"""VS Code's log of changes to an object: a first value, then what was set, added or removed."""

import copy
from collections.abc import Sequence
from typing import Any

from ingest.importers.base import Raw, list_in

_INITIAL, _SET, _PUSH, _DELETE = range(4)
_LONGEST_LIST = 1_000_000


def is_change_log(lines: Sequence[Raw]) -> bool:
    return bool(lines) and lines[0].get("kind") == _INITIAL and "v" in lines[0]


def replayed(lines: Sequence[Raw]) -> Any:
    """The object as the last line left it. A line that does not fit what is there is left out."""
    value = copy.deepcopy(lines[0].get("v"))
    for line in lines[1:]:
        keys = list_in(line.get("k"))
        if line.get("kind") == _INITIAL:
            value = copy.deepcopy(line.get("v"))
        elif keys:
            holder = _at(value, keys[:-1])
            _change(holder, keys[-1], line)
    return value


def _at(value: Any, keys: Sequence[Any]) -> Any:
    for key in keys:
        value = _get(value, key)
    return value


def _get(holder: Any, key: Any) -> Any:
    if isinstance(holder, dict) and isinstance(key, str):
        return holder.get(key)
    if isinstance(holder, list) and _is_place(holder, key):
        return holder[key]
    return None


def _is_place(holder: list[Any], key: Any) -> bool:
    return isinstance(key, int) and not isinstance(key, bool) and 0 <= key < len(holder)


def _change(holder: Any, key: Any, line: Raw) -> None:
    kind = line.get("kind")
    if kind == _PUSH:
        target = _get(holder, key)
        if target is None and isinstance(holder, dict) and isinstance(key, str):
            target = holder[key] = []
        if isinstance(target, list) and len(target) < _LONGEST_LIST:
            start = line.get("i")
            if isinstance(start, int) and 0 <= start < len(target):
                del target[start:]
            target.extend(list_in(line.get("v")))
    elif isinstance(holder, dict) and isinstance(key, str):
        if kind == _SET:
            holder[key] = line.get("v")
        elif kind == _DELETE:
            holder.pop(key, None)
    elif isinstance(holder, list) and kind == _SET:
        if _is_place(holder, key):
            holder[key] = line.get("v")
        elif key == len(holder):
            holder.append(line.get("v"))
