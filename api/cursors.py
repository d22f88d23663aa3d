"""Opaque texts that say where a page of a list ended."""

from datetime import datetime
from typing import Any

from backread.cursors import pack, unpack
from backread.errors import InvalidInput
from backread.store.models import Conversation
from backread.store.repositories.browsing import ConversationOrder, ListPosition, position_of


def write_cursor(last: Conversation, order: ConversationOrder) -> str:
    """For going on after `last`; `read_cursor` takes it back."""
    position = position_of(last, order)
    return pack([order.value, position.value, position.id])


def read_cursor(text: str, order: ConversationOrder) -> ListPosition:
    """Raises InvalidInput for a text that `write_cursor` did not make for this order."""
    try:
        made_for, value, item = unpack(text)
        if made_for != order.value or not isinstance(item, str):
            raise ValueError(made_for)
        return ListPosition(_value(value, order), item)
    except (ValueError, TypeError) as error:
        raise InvalidInput(
            "This list cannot be continued from here.", hint="Open its first page."
        ) from error


def _value(value: Any, order: ConversationOrder) -> str | int | datetime:
    if order is ConversationOrder.LONGEST:
        return int(value)
    if order is ConversationOrder.TITLE:
        return str(value)
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError(value)
    return moment
