"""Argument types that several tools share."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema


def whole_number(value: Any, problem: str) -> int | None:
    """An id. Models send one as a number or as text, whichever the schema says; blank is none.
    Raises ValueError with the problem's words for anything else."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = "" if isinstance(value, bool) else str(value).strip()
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise ValueError(problem)
    return int(text)


def _bucket(value: Any) -> int | None:
    return whole_number(value, "a bucket id is a whole number; list_buckets shows the ids")


def _given_bucket(value: Any) -> int:
    number = _bucket(value)
    if number is None:
        raise ValueError("a bucket id is needed; list_buckets shows the ids")
    return number


# The contract declares the id a number in some tools and a string in others; either is accepted.
BucketNumber = Annotated[int | None, BeforeValidator(_bucket), WithJsonSchema({"type": "number"})]
BucketText = Annotated[int | None, BeforeValidator(_bucket), WithJsonSchema({"type": "string"})]
# For tools that cannot do without one.
RequiredBucketNumber = Annotated[
    int, BeforeValidator(_given_bucket), WithJsonSchema({"type": "number"})
]
RequiredBucketText = Annotated[
    int, BeforeValidator(_given_bucket), WithJsonSchema({"type": "string"})
]

# An id of the product's own; longer ones cannot be meant.
Id = Annotated[str, Field(min_length=1, max_length=64)]
