"""Parameters that several notes tools share, named as the reference contract has them."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from api.mcp_server.tool import from_json_text
from recall.notes.searching import MAX_TAGS

Path = Annotated[
    str,
    Field(
        description="Exact POSIX .md address (case-sensitive, no leading slash), e.g. "
        "work/tasks/foo.md. Not a title or query."
    ),
]
Tags = Annotated[
    list[str],
    BeforeValidator(from_json_text),
    Field(
        default_factory=list,
        max_length=MAX_TAGS,
        description="Frontmatter or inline #tags, AND-matched (all must be present), "
        "case-sensitive, bare without #. Up to 50.",
    ),
]


def map_from_json_text(value: Any) -> Any:
    """A map that came as JSON text, which some clients make of nested arguments."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        return from_json_text(f"[{value}]")[0] if _is_json(value) else value
    return value


def _is_json(value: str) -> bool:
    return isinstance(from_json_text(f"[{value}]"), list)


Frontmatter = Annotated[dict[str, Any], BeforeValidator(map_from_json_text)]
