"""Applies the changes that chats made to their documents.

ChatGPT's are regular expressions, and a file may hold any. They run on RE2, whose time grows with
the text and never with what a pattern could match; length, memory and the sum of all work are
bounded as well. What RE2 does not know (looking around, references inside a pattern) is not
applied: a change that is shown as it came is better than a wrong text.
"""

from collections.abc import Sequence
from typing import Any

import re2

_PATTERN_CHARS = 2_000
_PATTERN_MEMORY_BYTES = 256 * 1024
_TEXT_CHARS = 2_000_000  # a document longer than this is not changed further
_MOST_MATCHES = 2_000
_WORK_CHARS = 20_000_000  # read and written by all changes of one conversation together


class Unappliable(Exception):
    """Why a change could not be applied, in words."""


class Patcher:
    """Applies changes within one budget of work."""

    def __init__(self) -> None:
        self._left = _WORK_CHARS

    def apply(self, text: str, patches: Sequence[Any]) -> str:
        """The text after all patches of one change, or Unappliable: never after some of them."""
        for patch in patches:
            if not isinstance(patch, dict):
                raise Unappliable("The change is not one that is known.")
            old, new = str(patch.get("old", "")), str(patch.get("new", ""))
            everywhere = patch.get("is_everywhere") is True
            if patch.get("is_pattern") is True:
                text = self._by_pattern(text, old, new, everywhere=everywhere)
            else:
                text = _by_words(text, old, new, everywhere=everywhere)
            if len(text) > _TEXT_CHARS:
                raise Unappliable("The text would become too long.")
            self._spend(len(text))  # every version is kept, so this bounds memory as well
        return text

    def _by_pattern(self, text: str, old: str, new: str, *, everywhere: bool) -> str:
        pattern = _compiled(old)
        parts: list[str] = []
        at = size = 0
        for count, found in enumerate(self._matches(pattern, text)):
            if count and not everywhere:
                break
            if count >= _MOST_MATCHES or size > _TEXT_CHARS:
                raise Unappliable("Its pattern matches too often.")
            parts += [text[at : found.start()], _expanded(found, new)]
            size += len(parts[-1])
            at = found.end()
        if not parts:
            raise Unappliable("Its pattern matches nothing in the text before.")
        return "".join((*parts, text[at:]))

    def _matches(self, pattern: Any, text: str) -> Any:
        at = 0
        while at <= len(text):
            self._spend(len(text) + 1)
            found = pattern.search(text, at)
            if found is None:
                return
            yield found
            at = found.end() if found.end() > found.start() else found.end() + 1

    def _spend(self, characters: int) -> None:
        self._left -= characters
        if self._left < 0:
            raise Unappliable("This conversation holds too many changes to apply them all.")


def _compiled(pattern: str) -> Any:
    if len(pattern) > _PATTERN_CHARS:
        raise Unappliable("Its pattern is too long.")
    options = re2.Options()
    options.dot_nl = True  # as ChatGPT's own: `.*` is the whole document
    options.max_mem = _PATTERN_MEMORY_BYTES
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:
        raise Unappliable("Its pattern is one that cannot be applied safely.") from error


def _expanded(found: Any, replacement: str) -> str:
    """The replacement with its references to groups; one that has no such meaning as it stands."""
    if "\\" not in replacement:
        return replacement
    try:
        return str(found.expand(replacement))
    except (LookupError, ValueError):
        return replacement


def _by_words(text: str, old: str, new: str, *, everywhere: bool) -> str:
    count = text.count(old) if old else 0
    if not count:
        raise Unappliable("The words that it replaces are not in the text before.")
    if everywhere and len(text) + count * len(new) > _TEXT_CHARS:
        raise Unappliable("The text would become too long.")
    return text.replace(old, new, -1 if everywhere else 1)
