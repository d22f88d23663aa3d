"""Exact words and phrases, in every language, on both databases.

SQLite (FTS5) and PostgreSQL cut text into words by different rules. To answer alike, both are
given text that was folded here: compatibility forms unified, accents of Latin, Greek and Cyrillic
letters dropped, and every character of a script that writes without spaces (Chinese, Japanese,
Thai, …) or whose words take endings (Korean) set apart as a word of its own. A query is folded
in the same way, and whatever it cut into several words is asked for as a phrase.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

# A change of what `fold` and `words` give needs a migration that fills the full-text tables again.

_MAX_WORD = 200  # PostgreSQL refuses lexemes over 2 kB; no word people look for is so long
_MAX_POSITION = 16_383  # of a PostgreSQL tsvector
_COLUMN_GAP = 8  # so that no phrase reaches from the heading into the text

_UNSPACED = re.compile(
    "["
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Burmese
    "\u1780-\u17ff"  # Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7a3"  # Hangul syllables
    "\U00020000-\U0003ffff"  # Han, further planes
    "]+"
)
_ACCENTS = re.compile("[\u0300-\u036f]+")
_WORD = re.compile(r"[^\W_]+")


def fold(text: str) -> str:
    """The form in which text is indexed and asked for. Keeps the order of words."""
    if "\x00" in text:
        text = text.replace("\x00", " ")
    if text.isascii():
        return text
    if not unicodedata.is_normalized("NFKD", text):
        apart = unicodedata.normalize("NFKD", text)
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", apart))
    return _UNSPACED.sub(lambda run: f" {' '.join(run.group())} ", text)


def words(text: str) -> list[str]:
    """The words of a text as both databases see them, in order."""
    return [word[:_MAX_WORD] for word in _WORD.findall(fold(text).lower())]


def tsvector(heading: str, body: str) -> str:
    """A PostgreSQL tsvector literal with the positions of each word."""
    places: dict[str, list[int]] = {}
    position = 0
    for column in (heading, body):
        for word in words(column):
            position = min(position + 1, _MAX_POSITION)
            places.setdefault(word, []).append(position)
        position += _COLUMN_GAP
    return " ".join(
        f"'{word}':{','.join(map(str, dict.fromkeys(spots[:255])))}"
        for word, spots in places.items()
    )


@dataclass(frozen=True, slots=True)
class WordQuery:
    """What a full-text search asks for. Each term is one or more words in a row.

    `required` terms must all occur; of `any_of` at least one, if there are some; `excluded` none.
    """

    required: Sequence[Sequence[str]] = ()
    any_of: Sequence[Sequence[str]] = ()
    excluded: Sequence[Sequence[str]] = ()

    @property
    def finds_something(self) -> bool:
        """False when there is nothing to look for; exclusions alone find nothing."""
        return bool(self.required or self.any_of)

    def fts5(self, account_id: str) -> str:
        """For SQLite. The account is a term, so only its own postings are read."""
        parts = [f'account : "{account_id}"']
        parts += [_fts5_term(term) for term in self.required]
        if self.any_of:
            parts.append("(" + " OR ".join(_fts5_term(term) for term in self.any_of) + ")")
        wanted = " AND ".join(parts)
        if not self.excluded:
            return wanted
        return f"({wanted}) NOT ({' OR '.join(_fts5_term(term) for term in self.excluded)})"

    def tsquery(self) -> str:
        """For PostgreSQL, as a tsquery literal."""
        parts = [_tsquery_term(term) for term in self.required]
        if self.any_of:
            parts.append("(" + " | ".join(_tsquery_term(term) for term in self.any_of) + ")")
        parts += [f"!{_tsquery_term(term)}" for term in self.excluded]
        return " & ".join(parts)


def _fts5_term(term: Sequence[str]) -> str:
    # Words hold letters and digits only, so nothing needs escaping.
    return f'{{heading body}} : "{" ".join(term)}"'


def _tsquery_term(term: Sequence[str]) -> str:
    return "(" + " <-> ".join(f"'{word}'" for word in term) + ")"
