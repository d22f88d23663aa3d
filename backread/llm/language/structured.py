"""Answers with a shape: how a shape is asked for, and how an answer is read."""

import json
import re
from typing import Any

from pydantic import BaseModel, ValidationError

from backread.llm.language.model import Answer

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_MOST_ERRORS = 5
_UNUSED_KEYS = frozenset({"title", "default"})


class UnusableAnswer(Exception):
    """Not what was asked for. The text says why, in words a model understands."""


def strict_schema(result: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema as strict servers want it: every field required, none besides."""
    schema: dict[str, Any] = _strict(result.model_json_schema())
    return schema


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(each) for each in node]
    if not isinstance(node, dict):
        return node
    is_object = node.get("type") == "object" and "properties" in node
    changed = {
        key: (
            {name: _strict(each) for name, each in value.items()}
            if key in {"properties", "$defs"}
            else _strict(value)
        )
        for key, value in node.items()
        if key not in _UNUSED_KEYS
    }
    if is_object:
        changed["additionalProperties"] = False
        changed["required"] = list(node["properties"])
    return changed


def form_in_words(result: type[BaseModel]) -> str:
    """For servers that take no schema, and as a reminder for those that do."""
    schema = json.dumps(strict_schema(result), ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else, valid against this schema: {schema}"


def read_answer(text: str, result: type[Answer]) -> Answer:
    """The answer as an instance of `result`. A fence, thoughts or words around the JSON are
    forgiven. Raises UnusableAnswer."""
    text = _THOUGHTS.sub("", text).strip()
    if not text:
        raise UnusableAnswer("The answer was empty.")
    try:
        return result.model_validate(_outermost(text))
    except ValidationError as error:
        found = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'the whole'}: {each['msg']}"
            for each in error.errors(include_url=False, include_input=False)[:_MOST_ERRORS]
        )
        raise UnusableAnswer(f"The JSON does not fit the schema: {found}.") from error


def _outermost(text: str) -> Any:
    """The first JSON object in the text that is whole."""
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            return decoder.raw_decode(text, start)[0]
        except (json.JSONDecodeError, RecursionError):
            start = text.find("{", start + 1)
    raise UnusableAnswer("There was no whole JSON object in the answer.")
