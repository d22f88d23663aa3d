"""Parameters that several folder tools share, named as the reference contract has them, and how
their results are written."""

import json
import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from api.folder_server.caller import KeyHolder
from api.mcp_server.tool import Arguments, from_json_text
from backread.domain import Principal
from recall.folders.access import FolderAccess
from recall.folders.metadata import MOST_FIELDS

# Characters that hide or reorder text: in JSON they can be written so that they show.
_HIDDEN = re.compile(
    "[\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)


class FolderArguments(Arguments):
    """The contract mixes two styles of names, so each is given as it is."""

    model_config = ConfigDict(alias_generator=None)


class Condition(BaseModel):
    """One metadata value that a record must have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    value: Any = Field(description="A text, number, true, false or null; compared with its kind.")


def _parsed(value: Any) -> Any:
    """A list or an object that came as JSON text."""
    try:
        if isinstance(value, str) and value.lstrip().startswith("{"):
            return json.loads(value)
        return from_json_text(value)
    except (ValueError, RecursionError):
        return value  # the field's own check says what is wrong with it


def _from_pairs(value: Any) -> Any:
    """An object where a list of pairs is meant, or the other way round in `_to_map`."""
    value = _parsed(value)
    if isinstance(value, dict):
        return [{"key": key, "value": each} for key, each in value.items()]
    return value


def _to_map(value: Any) -> Any:
    value = _parsed(value)
    is_pairs = isinstance(value, list) and all(
        isinstance(each, dict) and {"key", "value"} == set(each) and isinstance(each["key"], str)
        for each in value
    )
    return {each["key"]: each["value"] for each in value} if is_pairs else value


Metadata = Annotated[dict[str, Any], BeforeValidator(_to_map)]
Conditions = Annotated[
    list[Condition],
    BeforeValidator(_from_pairs),
    Field(
        max_length=MOST_FIELDS,
        description="Array of {key, value} pairs. A record matches if it has all of them.",
    ),
]
RecordId = Annotated[str, Field(min_length=1, max_length=64, description="ID of the memory.")]
Cursor = Annotated[
    str, Field(max_length=64, description="next_cursor of the page before; none for the first.")
]


def access_of(principal: Principal) -> FolderAccess:
    """The folder that the caller's key opens."""
    assert isinstance(principal, KeyHolder)
    return principal.access


def pairs(conditions: list[Condition]) -> list[tuple[str, Any]]:
    return [(each.key, each.value) for each in conditions]


def as_json(value: Any) -> str:
    """JSON in which every character that would not show is escaped. What is parsed from it is
    exactly the value."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return _HIDDEN.sub(lambda match: json.dumps(match.group())[1:-1], text)
