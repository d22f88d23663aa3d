"""What every importer offers, and the careful readers of foreign JSON that they share.

An importer never trusts a type: a field of another type than documented counts as absent. What it
does not know it counts in `news` and leaves to the raw capture.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol, runtime_checkable

from backread.domain import ParsedConversation
from ingest.normalise import clean

Raw = Mapping[str, Any]

# Chats with AI tools are younger; platforms write 0, 1970 and 0001-01-01 for "not known".
_EARLIEST_YEAR = 2000
_LATEST_YEAR = 2199
_NUMBER_LIMIT = 10**15
_SECONDS_LIMIT = 10**11  # as seconds the year 5138; anything larger counts milliseconds


class Importer(Protocol):
    """One per platform. `parse` raises `UnreadableImport` only for what it cannot read at all."""

    @property
    def slug(self) -> str: ...

    @property
    def version(self) -> int:
        """Goes up when the same capture parses to something else: derived rows carry it.
        Importers whose captures converge on one platform share theirs."""
        ...

    def recognises(self, raw: Any) -> bool:
        """Whether this is one conversation of the platform, by structure alone."""
        ...

    def identify(self, raw: Raw) -> str:
        """The platform's id of the conversation; stable over later exports of it."""
        ...

    def parse(self, raw: Raw) -> ParsedConversation: ...


@runtime_checkable
class Rehoming(Protocol):
    """An importer whose captures may belong to another platform's chat: a page that was saved
    from it, say. Such a capture converges with that chat."""

    def platform_of(self, raw: Raw) -> str: ...


def platform_of(importer: Importer, raw: Raw) -> str:
    """The slug of the platform whose conversation a capture is."""
    return importer.platform_of(raw) if isinstance(importer, Rehoming) else importer.slug


def text_in(value: Any) -> str:
    """The cleaned text, or "" for anything that is not text."""
    return clean(value) if isinstance(value, str) else ""


def dict_in(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def list_in(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def dicts_in(value: Any) -> list[dict[str, Any]]:
    return [each for each in list_in(value) if isinstance(each, dict)]


def size_in(value: Any) -> int | None:
    """A size in bytes, if it is a sensible one."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        return None
    return value


def time_in(value: Any) -> datetime | None:
    """Epoch seconds or milliseconds, or ISO 8601, in UTC. None for the platforms' ways to say
    "unknown" and for what no clock can have shown. A time without a zone is UTC, as all
    platforms here write UTC."""
    if isinstance(value, str):
        return _iso_time(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Compared before anything converts it: an int may be larger than any float.
    if not -_NUMBER_LIMIT < value < _NUMBER_LIMIT:
        return None
    seconds = value / 1000 if abs(value) > _SECONDS_LIMIT else value
    if not 0 < seconds < _SECONDS_LIMIT:
        return None
    return _plausible(datetime.fromtimestamp(seconds, UTC))


def _iso_time(value: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return _number_as_time(value)
    if moment.year < _EARLIEST_YEAR or moment.year > _LATEST_YEAR:
        return None  # before the conversion to UTC, which overflows at both ends
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _number_as_time(value: str) -> datetime | None:
    try:
        return time_in(float(value))
    except (ValueError, OverflowError):
        return None


def _plausible(moment: datetime) -> datetime | None:
    return moment if _EARLIEST_YEAR <= moment.year <= _LATEST_YEAR else None
