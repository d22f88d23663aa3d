"""Argument types that several tools share."""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema


def _bucket_text(value: Any) -> Any:
    """Models send an id as a number or as text, whichever the schema says; blank is none."""
    if isinstance(value, bool):
        raise ValueError("a bucket id is a whole number; list_buckets shows the ids")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int | str):
        return str(value).strip() or None
    if isinstance(value, float):
        raise ValueError("a bucket id is a whole number; list_buckets shows the ids")
    return value


def _bucket_number(value: str | None) -> int | None:
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 19):
        raise ValueError("a bucket id is a whole number; list_buckets shows the ids")
    return int(value)


def _given(value: int | None) -> int:
    if value is None:
        raise ValueError("a bucket id is needed; list_buckets shows the ids")
    return value


_Bucket = Annotated[str | None, BeforeValidator(_bucket_text), AfterValidator(_bucket_number)]
# The contract declares the id a number in some tools and a string in others; either is accepted.
BucketNumber = Annotated[_Bucket, WithJsonSchema({"type": "number"})]
BucketText = Annotated[_Bucket, WithJsonSchema({"type": "string"})]
# For tools that cannot do without one.
RequiredBucketNumber = Annotated[
    _Bucket, AfterValidator(_given), WithJsonSchema({"type": "number"})
]
RequiredBucketText = Annotated[_Bucket, AfterValidator(_given), WithJsonSchema({"type": "string"})]

# An id of the product's own; longer ones cannot be meant.
Id = Annotated[str, Field(min_length=1, max_length=64)]
