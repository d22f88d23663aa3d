"""Whether a question asks for what is recent, so that time may decide between equal answers."""

import re

# "latest", "last time", "currently" in the languages that dates are read in.
_WORDS = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|recently|last time|currently|these days|"
    r"at the moment|so far|nowadays|"
    r"zuletzt|neuest\w*|neulich|kürzlich|jüngst\w*|aktuell\w*|derzeit|letztes mal|"
    r"(?:la )?dernière fois|récemment|actuellement|en ce moment|plus récente?s?|"
    r"(?:la )?última vez|recientemente|actualmente|más recientes?|"
    r"recentemente|atualmente|ultimamente|mais recentes?)\b"
    r"|最近|最新|上次|上一次|目前|现在|現在|前回|この前|ここのところ"
    r"|آخر مرة|مؤخرا|مؤخرًا|حاليا|حاليًا|الأحدث|최근|지난번|요즘",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"\b(?:i|i'm|i've|i'd|my|we|our|ich|mein\w*|wir|je|j'ai|mon|ma|nous|yo|mi|nosotros|eu|meu)\b"
    r"|我|私|أنا",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?…](?:\s|$)|[。！？؟]")
_WORDS_OF_A_MESSAGE = 20


def asks_for_recent(text: str) -> bool:
    """True for a question that says so, and for a message of several sentences in the first
    person: it goes on with something under way."""
    if _WORDS.search(text):
        return True
    if len(text.split()) < _WORDS_OF_A_MESSAGE or not _FIRST_PERSON.search(text):
        return False
    return len(_SENTENCE_END.findall(text)) > 1
