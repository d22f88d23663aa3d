"""How results look outside: camelCase names, as the reference contract has them, and no text that
could be taken for anything but data."""

from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator
from pydantic.alias_generators import to_camel

from recall.rendering import clean


class WireModel(BaseModel):
    """Python names inside, camelCase in JSON; both are understood as input."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


class ResultModel(WireModel):
    """What is handed out. Every text in it is cleaned, whichever field it stands in: no hidden or
    reordering characters, no role marks. What is stored keeps them."""

    @field_validator("*", mode="after")
    @classmethod
    def _cleaned(cls, value: Any) -> Any:
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, list) and value and isinstance(value[0], str):
            return [clean(each) for each in value]
        return value
