"""JSON schemas of tools, flat: everything inline, no `$ref`, no `anyOf`.

Several clients refuse or misread references, unions with null and `additionalProperties`; what is
left here is the subset that all of them take. What the flat schema cannot say (a number that may
come as text, say) the argument models still accept.
"""

from functools import cache
from typing import Any, Literal

from pydantic import BaseModel

_DROPPED = ("title", "additionalProperties", "$defs", "discriminator")


@cache
def flat_schema(
    model: type[BaseModel], mode: Literal["validation", "serialization"]
) -> dict[str, Any]:
    """The schema of a model without recursion. Raises ValueError for a union that cannot be
    flattened, at start, so that no such tool is ever offered."""
    schema = model.model_json_schema(by_alias=True, mode=mode)
    flat = _flat(schema, schema.get("$defs", {}))
    flat.setdefault("properties", {})
    return flat


def _is_nullable(schema: dict[str, Any]) -> bool:
    return any(kind.get("type") == "null" for kind in schema.get("anyOf", ()))


def _flat(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        target = definitions[schema["$ref"].removeprefix("#/$defs/")]
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return _flat({**target, **beside}, definitions)
    if "anyOf" in schema:
        kinds = [kind for kind in schema["anyOf"] if kind.get("type") != "null"]
        if len(kinds) != 1:
            raise ValueError(f"a tool schema has a union: {schema['anyOf']}")
        beside = {key: value for key, value in schema.items() if key != "anyOf"}
        return _flat({**kinds[0], **beside}, definitions)
    flat = {key: value for key, value in schema.items() if key not in _DROPPED}
    if flat.get("default", 0) is None:
        del flat["default"]
    if "const" in flat:
        flat["enum"] = [flat.pop("const")]
    if "properties" in flat:
        # A null is left out of results, so what may be null is not required.
        nullable = {name for name, field in flat["properties"].items() if _is_nullable(field)}
        required = [name for name in flat.pop("required", ()) if name not in nullable]
        if required:
            flat["required"] = required
        flat["properties"] = {
            name: _flat(field, definitions) for name, field in flat["properties"].items()
        }
    if "items" in flat:
        flat["items"] = _flat(flat["items"], definitions)
    return flat
