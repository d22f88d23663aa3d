"""What a writer of a format is, and what the format can carry."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.ingest.roundtrip.chats import Chat, Times


def shown(text: str) -> str:
    """Without what no database holds, and with one kind of line end; else as it was written."""
    return re.sub("[\x00\ufeff\ud800-\udfff]", "", re.sub("\r\n?", "\n", text))


def without_outer_lines(text: str) -> str:
    """As it is stored."""
    return shown(text).strip("\n")


def without_outer_blanks(text: str) -> str:
    return shown(text).strip()


def words_only(text: str) -> str:
    """For formats that keep no blanks, such as HTML."""
    return " ".join(shown(text).split())


@dataclass(frozen=True)
class Writer:
    """Writes a chat as the platform exports it. `name` is the file's; several forms of one
    platform are several writers. `stored` is what becomes of a text; `accepts` says which texts
    the format can hold at all."""

    slug: str
    name: str
    write: Callable[[Chat], bytes]
    has_branches: bool = False
    has_leaf: bool = False
    times: Times = Times.EACH
    stored: Callable[[str], str] = without_outer_lines
    accepts: Callable[[str], bool] = lambda text: True
    needs_answer: bool = False

    @property
    def label(self) -> str:
        return f"{self.slug}-{self.name}"
