"""What sets a group of texts apart, in its own words: for names and for pointers.

Candidates are runs of up to three words without common ones among them; in scripts that are
written without spaces, runs of characters that recur. A phrase counts by how many texts of the
group hold it, against how many of all (c-TF-IDF, Grootendorst 2022,
https://arxiv.org/abs/2203.05794). Nothing here knows a language's grammar, so the lists of common
words of 33 languages stand in for it.
"""

import itertools
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from stop_words import get_stop_words

from backread.text.stemming import stems_of

Key = tuple[str, ...]

_LANGUAGES = """
    english german french spanish italian portuguese dutch danish norwegian swedish
    finnish polish czech slovak hungarian romanian bulgarian russian ukrainian greek
    turkish catalan indonesian vietnamese arabic persian hebrew hindi korean
""".split()  # noqa: SIM905 - easier to read
# Common in what people say of themselves and in chats, and empty as a name.
_EMPTY_WORDS = """
    user users use used uses using prefer prefers preferred like likes liked want wants wanted need
    needs needed keep keeps kept make makes made work works worked thing things way ways lot bit
    always never usually often sometimes every each day days week weeks month months year years time
    times today tomorrow yesterday morning evening good better best bad new old big small first
    second last next one two three four five six seven eight nine ten half please thanks thank help
    get gets got go goes going went come comes came put puts take takes took give gives gave let
    say says said tell tells told ask asks asked know knows knew think thinks thought see sees saw
    look looks find finds found try tries tried start starts started begin begins mostly mainly
    really much many still also yet just even well done due per via etc ok okay yes around without
    like question answer example assistant chat chatgpt claude
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december
    nutze mag möchte brauche immer nie jeden jede jedes tag woche monat jahr montag dienstag
    mittwoch donnerstag freitag samstag sonntag januar februar märz juni juli oktober dezember gibt
    geht macht bitte neue neuen alte alten erste ersten zwei drei
    toujours jamais chaque jour semaine mois année lundi mardi mercredi jeudi vendredi samedi
    dimanche janvier février mars avril mai juin juillet août septembre octobre novembre décembre
    siempre nunca cada día semana mes año lunes martes miércoles jueves viernes sábado domingo enero
    febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
"""
# In the lists, and telling all the same.
_NOT_COMMON = {"index", "test", "design"}
_CHINESE_GLUE = frozenset(
    "的了是我在你他她它们这那有和与就都也还不没很把被给从到对为以及或但而要会能可请已将让用做"
    "每个一二三四五六七八九十几多些上下里中后前时候天年月日号点分最再先又才只更太"
)
_CLAUSE = re.compile(r"[^\s.,;:!?()\[\]{}<>\"“”„«»「」『』。、，；：！？（）…—–/|\\=*#`~]+|[^\s]")
_WORD = re.compile(r"[^\W_](?:[\w’'+#.&-]*[^\W_]|[+#]+)?")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]{2,}")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]{2,}")
_KANA = re.compile("[\u3041-\u309f\u30a1-\u30ff]")
_THAI = re.compile("[\u0e00-\u0eff]{4,}")
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_KOREAN_ENDING = re.compile(
    "(?<=[\uac00-\ud7a3]{2})(?:은|는|이|가|을|를|에서|에|의|도|로|으로|와|과)$"
)
_MOST_CHARACTERS = 8_000  # of one text

_LONGER_BY = 0.3  # a phrase of two words says more than one of its words


@dataclass(frozen=True, slots=True)
class Phrase:
    """`surface` is how it is mostly written; `texts` are the places of the texts that hold it."""

    key: Key
    surface: str
    score: float
    texts: tuple[int, ...]


@cache
def common_words() -> frozenset[str]:
    """Words that name nothing, in lower case."""
    found = set(_EMPTY_WORDS.split())
    for language in _LANGUAGES:
        found.update(word.lower() for word in get_stop_words(language) if len(word) > 1)
    return frozenset(found - _NOT_COMMON)


@lru_cache(maxsize=20_000)
def phrases_of(text: str) -> tuple[tuple[Key, str], ...]:
    """The candidate phrases of a text, each once: what it is compared by, and as it is written.
    Kept for the short texts that are asked about again and again."""
    return tuple(find_phrases(text).items())


def find_phrases(text: str) -> dict[Key, str]:
    """As `phrases_of`, without keeping anything."""
    text = unicodedata.normalize("NFKC", text[:_MOST_CHARACTERS])
    found: dict[Key, str] = {}
    for run in _runs(text):
        for size in (1, 2, 3):
            for start in range(len(run) - size + 1):
                words = run[start : start + size]
                key = tuple(stem for word in words for stem in _stem(word))
                if key and any(len(word) > 2 or not word.isascii() for word in words):
                    found.setdefault(key, " ".join(words))
    for surface in _unspaced(text):
        found.setdefault((surface,), surface)
    return found


def distinctive(
    texts: Sequence[str], groups: Sequence[Sequence[int]], *, most: int = 12
) -> list[list[Phrase]]:
    """For each group, given as places in `texts`, its phrases with the most telling first.

    A phrase of only one text of a group counts only where too few are shared.
    """
    held = [dict(phrases_of(text)) for text in texts]
    everywhere = Counter(key for each in held for key in each)
    return [_ranked(group, held, everywhere, len(texts), most) for group in groups]


def name_from(phrases: Sequence[Phrase], most: int = 3) -> tuple[str, list[str]]:
    """A name out of the first phrases that do not repeat each other, and those phrases."""
    chosen: list[Phrase] = []
    for each in phrases:
        if len(chosen) == most:
            break
        if chosen and each.score < chosen[0].score * 0.35:
            break
        if not any(_overlaps(each, other) for other in chosen):
            chosen.append(each)
    name = ", ".join(each.surface for each in chosen)
    return name[:1].upper() + name[1:], [each.surface for each in chosen]


def holds(text: str, surface: str) -> bool:
    """Whether the text has the phrase, however its words are inflected."""
    wanted = {key for key, _ in phrases_of(surface)}
    whole = max(wanted, key=len, default=())
    return any(key == whole for key, _ in phrases_of(text)) or surface.lower() in text.lower()


def _ranked(
    group: Sequence[int],
    held: Sequence[dict[Key, str]],
    everywhere: Counter[Key],
    total: int,
    most: int,
) -> list[Phrase]:
    places: dict[Key, list[int]] = defaultdict(list)
    surfaces: dict[Key, Counter[str]] = defaultdict(Counter)
    for place in group:
        for key, surface in held[place].items():
            places[key].append(place)
            surfaces[key][surface] += 1
    shared = [key for key, where in places.items() if len(where) > 1]
    short = [key for key, where in places.items() if len(where) > 1 or len(key) < 3]
    candidates = shared if len(shared) >= 3 else short
    rated = []
    for key in candidates:
        inside = len(places[key])
        rarity = math.log(1 + total / everywhere[key])
        own = inside / everywhere[key]  # 1 when no other group has it
        score = inside * rarity * math.sqrt(own) * (1 + _LONGER_BY * (len(key) - 1))
        surface = min(surfaces[key].items(), key=lambda item: (-item[1], item[0]))[0]
        rated.append(Phrase(key, surface, score, tuple(places[key])))
    rated.sort(key=lambda each: (-each.score, each.surface))
    return list(itertools.islice(_without_parts(rated), most))


def _without_parts(rated: Sequence[Phrase]) -> Iterator[Phrase]:
    """A phrase that nearly always stands inside a longer one is left to that one. Each is held
    against all others, so a caller takes as many as it needs of what may be tens of thousands."""
    kept: list[Phrase] = []
    for each in rated:
        inside = any(
            len(other.surface) > len(each.surface)
            and len(other.texts) >= 0.75 * len(each.texts)
            and _is_part(each, other)
            for other in rated
        )
        repeats = any(other.texts == each.texts and _overlaps(each, other) for other in kept)
        if not inside and not repeats:
            kept.append(each)
            yield each


def _is_part(short: Phrase, long: Phrase) -> bool:
    if len(long.key) == 1 and len(short.key) == 1 and _UNSPACED.search(long.surface):
        return short.surface in long.surface
    return len(short.key) < len(long.key) and set(short.key) <= set(long.key)


def _overlaps(one: Phrase, other: Phrase) -> bool:
    if _UNSPACED.search(one.surface):
        return bool(set(one.surface) & set(other.surface))
    return bool(set(one.key) & set(other.key))


def _runs(text: str) -> Iterator[list[str]]:
    """Words in a row, without a common word or a mark between them."""
    run: list[str] = []
    for match in _CLAUSE.finditer(text):
        word = match.group()
        found = _WORD.fullmatch(word)
        if found and not _UNSPACED.search(word) and _says_something(word):
            run.append(_bare(word))
            continue
        if run:
            yield run
            run = []
    if run:
        yield run


def _says_something(word: str) -> bool:
    lower = word.lower().strip("'’.-")
    bare = _bare(lower)
    if lower in common_words() or bare in common_words():
        return False
    if "'" in bare or "’" in bare:  # don't, it's, we'll
        return False
    letters = sum(character.isalpha() for character in word)
    return letters > 1 and letters >= len(word) / 2


def _bare(word: str) -> str:
    """Without what is only hung on: a possessive, an article, a particle."""
    word = re.sub("['’]s$", "", word)
    word = re.sub("^(?:[ldjmtscn]|qu)['’](?=[^\\W_]{3})", "", word, flags=re.IGNORECASE)
    return _KOREAN_ENDING.sub("", word)


def _stem(word: str) -> tuple[str, ...]:
    return stems_of(word) or (word.lower(),)


def _unspaced(text: str) -> Iterator[str]:
    is_japanese = _KANA.search(text) is not None
    for match in _HAN.finditer(text):
        run = match.group()
        if is_japanese:
            yield run if len(run) <= 6 else run[:6]
            continue
        for part in re.split(f"[{''.join(sorted(_CHINESE_GLUE))}]+", run):
            for size in (2, 3, 4):
                for start in range(len(part) - size + 1):
                    yield part[start : start + size]
    for match in _KATAKANA.finditer(text):
        yield match.group()
    for match in _THAI.finditer(text):
        run = match.group()
        for size in (4, 6):
            for start in range(0, len(run) - size + 1, 2):
                yield run[start : start + size]
