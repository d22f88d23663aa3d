"""Words of any language in the form in which sentences are compared."""

import re
import unicodedata
from functools import lru_cache

from py_rust_stemmers import SnowballStemmer

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3\U00020000-\U0003ffff]+"
)
_ACCENTS = re.compile("[\u0300-\u036f]+")
_CUT = 6  # letters of a word in another alphabet that stand for its stem

# The commonest words of the languages that chats are written in; they make nothing alike.
_COMMON_WORDS = """
    a an and are as at be been but by can could did do does for from had has have he her his how
    i if in into is it its just like me my no not of on or our she so some than that the their them
    then there they this to up was we were what when which who will with would you your
    der die das und ist ein eine ich du er sie wir nicht mit auf für von zu im den dem des es auch
    sich wie aber als hat haben war bei oder
    le la les un une des et est je tu il elle nous vous pas de du que qui dans pour sur avec ce au
    ne se mais ou
    el los las y es yo en por con para su del al lo como más pero
    o os e um uma do da em não com para se mas ao
    и в не на я что он она мы вы с по как это но а из у за то же для от
    il lo gli di che è per non sono
"""
_COMMON = frozenset(_COMMON_WORDS.split())

_STEMMER = SnowballStemmer("english")


@lru_cache(maxsize=20_000)
def stems_of(text: str) -> tuple[str, ...]:
    """The stems of a text in order, common words left out.

    English by Snowball; other alphabets by their first letters, without accents; scripts that
    are written without spaces by pairs of characters.
    """
    return tuple(_stems(text))


def _stems(text: str) -> list[str]:
    found: list[str] = []
    spaced = _UNSPACED.sub(lambda run: f" {run.group()} ", unicodedata.normalize("NFKC", text))
    for word in _WORD.findall(spaced.lower()):
        if _UNSPACED.match(word):
            found += [word[n : n + 2] for n in range(max(1, len(word) - 1))]
        elif word not in _COMMON:
            found.append(_stem(word))
    return found


def _stem(word: str) -> str:
    if word.isascii():
        stemmed: str = _STEMMER.stem_word(word)
        return stemmed
    plain = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", word)))
    return plain[:_CUT]
