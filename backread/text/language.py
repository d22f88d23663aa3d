"""Which language a text is in: near enough to tell a model in which one to write.

By its script, and of the Latin and Cyrillic ones by its commonest words. Chats are long and the
languages few, so that a library with models of its own would weigh more than it helps.
"""

import re
from collections import Counter
from dataclasses import dataclass

_LOOKED_AT = 20_000  # characters
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = (
    ("ja", "Japanese", re.compile("[\u3040-\u30ff]")),
    ("ko", "Korean", re.compile("[\uac00-\ud7a3]")),
    ("zh", "Chinese", re.compile("[\u4e00-\u9fff]")),
    ("th", "Thai", re.compile("[\u0e00-\u0e7f]")),
    ("ar", "Arabic", re.compile("[\u0600-\u06ff]")),
    ("he", "Hebrew", re.compile("[\u0590-\u05ff]")),
    ("hi", "Hindi", re.compile("[\u0900-\u097f]")),
    ("el", "Greek", re.compile("[\u0370-\u03ff]")),
)
_SHARE = 0.15  # of a text's letters from which a script is its own
_KANA_SHARE = 0.03  # Japanese is mostly written with Chinese characters
_NAMES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "pt": "Portuguese",
    "it": "Italian",
    "nl": "Dutch",
    "pl": "Polish",
    "tr": "Turkish",
    "sv": "Swedish",
    "ru": "Russian",
    "uk": "Ukrainian",
}
_TEXTS = {
    "en": "the and of to is in that it for you with this are was have be not on what can i we",
    "de": "der die das und ist ich nicht ein eine zu mit für auf den wir sie es auch dem wie im",
    "fr": "le la les et est des un une pour dans que qui pas je vous nous du sur avec au il ce",
    "es": "el los las y es de que en un una por con para no se lo mi como más pero está muy su",
    "pt": "o os e é de que em um uma por com para não se do da como mais mas está você ao na no",
    "it": "il lo gli e è di che in un una per con non si del della sono come più ma anche ho",
    "nl": "de het een en is van dat ik niet voor met op zijn maar ook wat je we er aan die te",
    "pl": "i w nie na to się jest że do z jak ale co o za po mam tak czy dla przez od są był",
    "tr": "ve bir bu için ile çok da de ne ben mi var daha gibi ama olarak kadar sonra en o",
    "sv": "och att det är en ett som på jag inte för med av den har vi om men kan till så de",
    "ru": "и в не на я что он она мы вы с по как это но а из у за то же для от его бы есть",
    "uk": "і в не на я що він вона ми ви з по як це але та у за то для від його є бути щоб",
}
_COMMON = {language: frozenset(text.split()) for language, text in _TEXTS.items()}


@dataclass(frozen=True, slots=True)
class Language:
    """ISO 639-1 code and English name; both empty when it cannot be told."""

    code: str = ""
    name: str = ""

    @property
    def name_for_prompt(self) -> str:
        return self.name or "the language that most of the text is in"


def language_of(text: str) -> Language:
    """The language of most of a text's beginning."""
    text = text[:_LOOKED_AT]
    letters = sum(len(word) for word in _WORD.findall(text))
    if not letters:
        return Language()
    for code, name, script in _SCRIPTS:
        share = _KANA_SHARE if code == "ja" else _SHARE
        if len(script.findall(text)) > share * letters:
            return Language(code, name)
    words = Counter(_WORD.findall(text.lower()))
    found = {
        code: sum(count for word, count in words.items() if word in common)
        for code, common in _COMMON.items()
    }
    best = max(found, key=lambda code: found[code])
    if found[best] < max(2, 0.04 * words.total()):
        return Language()
    return Language(best, _NAMES[best])
