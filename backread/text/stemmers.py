"""Stems of words by the language that they are in, for search.

A script that one language of ours is written in decides for each word: Arabic, Greek, Cyrillic
(by the rules of Russian), Tamil. Words in Latin letters need the language of the text around
them, told by its commonest words; where those do not tell, it is taken for English.
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from py_rust_stemmers import SnowballStemmer

ENGLISH = "en"

_LATIN = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "pt": "portuguese",
    "it": "italian",
    "nl": "dutch",
    "sv": "swedish",
    "da": "danish",
    "no": "norwegian",
    "fi": "finnish",
    "hu": "hungarian",
    "ro": "romanian",
    "tr": "turkish",
}
_SCRIPTS = (
    ("arabic", re.compile("[\u0621-\u063f\u0641-\u064a\u066e-\u06d3]+")),
    ("russian", re.compile("[\u0400-\u04ff]+")),
    ("greek", re.compile("[\u0370-\u03ff]+")),
    ("tamil", re.compile("[\u0b80-\u0bff]+")),
)
_LATIN_END = "\u0250"
_MARKS_ON_LETTERS = re.compile("[\u0300-\u036f\u0640\u064b-\u065f\u0670]+")
_STEMMERS = {name: SnowballStemmer(name) for name in (*_LATIN.values(), *dict(_SCRIPTS))}

# The commonest words, and those that ask. A word of several languages counts for each.
_MARKS = {
    "en": """the a an of and to in is was were are be been it that this for with on at by from as
        or but not what who whom whose which when where why how many much did do does done we my
        our you your i he she they his her their them me us have has had can could would will
        about there than then if so no yes just some any all""",
    "de": """der die das den dem des und ist sind war waren wurde wurden wird werden ich du er sie
        wir ihr nicht kein keine ein eine einen einem einer eines zu zum zur mit für auf im in am an
        von vom bei nach aus über unter als oder aber sich auch noch nur wie was wann wo wer wen wem
        warum woher wohin welche welcher welches welchen wieviel viele viel hat haben hatte mein
        meine unser unsere dass es so""",
    "fr": """le la les l un une des du de d et est sont était étaient été il elle ils elles je tu
        nous vous on ne pas que qu qui quoi où quand comment combien quel quelle quels quelles
        pourquoi dans pour par sur avec sans au aux ce cet cette ces se son sa ses mon ma mes notre
        nos en y a ont avait plus mais ou c j n s""",
    "es": """el la los las un una unos unas de del y e es son era eran fue fueron ser estar está
        que qué quién quiénes cuándo dónde cómo cuál cuáles cuánto cuánta cuántos cuántas por para
        con sin en al se su sus lo le les mi mis nuestro nuestra no más pero o como ha han había
        qué cuando donde yo tú nos este esta""",
    "pt": """o a os as um uma uns umas de do da dos das e é são era eram foi foram ser estar está
        que quem quando onde como qual quais quanto quanta quantos quantas por para com sem em no
        na nos nas ao à se seu sua seus suas meu minha nosso nossa não mais mas ou você eu ele ela
        isso este esta já também""",
    "it": """il lo la i gli le un uno una di del della dei delle dello e è sono era erano fu furono
        essere che chi quando dove come quale quali quanto quanta quanti quante perché per con
        senza in nel nella al alla si suo sua suoi sue mio mia nostro nostra non più ma o ho hai ha
        hanno da dal questo questa anche""",
    "nl": """de het een en van is zijn was waren werd werden wordt ik jij je hij zij we wij niet
        geen te met voor op in aan uit over als of maar ook nog wat wie wanneer waar waarom hoe
        welke welk hoeveel heeft hebben had mijn ons onze dat die dit er naar bij""",
    "sv": """och att det är en ett som på jag du han hon vi inte med av den de har hade var för till
        från om men eller när vem vad vilken vilket vilka varför hur många mycket min mitt vår så
        kan ska""",
    "da": """og at det er en et som på jeg du han hun vi ikke med af den de har havde var for til
        fra om men eller hvornår hvem hvad hvor hvilken hvilket hvilke hvorfor hvordan mange meget
        min mit vores så kan skal blev""",
    "no": """og at det er en et som på jeg du han hun vi ikke med av den de har hadde var for til
        fra om men eller når hvem hva hvor hvilken hvilket hvilke hvorfor hvordan mange mye min mitt
        vår så kan skal ble""",
    "fi": """ja on oli ei se hän minä sinä me te he että mutta tai kun jos kuka mikä mitä milloin
        missä miksi miten kuinka monta paljon minun meidän ovat olivat ollut myös niin kuin joka
        tämä""",
    "hu": """a az és egy is volt van nem hogy ez ki mi mit mikor hol miért hogyan hány mennyi melyik
        de vagy ha én te ő mint csak már meg még lesz voltak""",
    "ro": """și si un o de la în cu pe este sunt era erau a fost nu că ce cine când unde cum care
        cât câte câți pentru din dar sau eu tu el ea noi mai acest această mea meu nostru""",
    "tr": """ve bir bu şu o için ile çok da de ne ben sen biz siz mi mı mu mü var yok daha gibi ama
        olarak kadar sonra önce kim nerede zaman nasıl neden hangi kaç benim bizim oldu""",
}
_OF_WORD: dict[str, tuple[str, ...]] = {}
for _language, _text in _MARKS.items():
    for _word in dict.fromkeys(_text.split()):
        _OF_WORD[_word] = (*_OF_WORD.get(_word, ()), _language)
_LETTERS = {"ß": "de", "ñ": "es", "¿": "es", "ã": "pt", "õ": "pt", "ő": "hu", "ű": "hu", "ğ": "tr"}
_LETTERS |= {"ı": "tr", "ș": "ro", "ț": "ro", "ă": "ro"}
_WORD = re.compile(r"[^\W\d_]+")
_LOOKED_AT = 2_000  # characters
_ENOUGH_OF_TEXT = 3  # marks


def language_of_text(text: str) -> str:
    """Code of the language whose words in Latin letters the text is made of; English unless
    another one stands out."""
    counts = _counts(text)
    if not counts:
        return ENGLISH
    best = max(counts, key=lambda language: (counts[language], language == ENGLISH))
    if counts[best] < _ENOUGH_OF_TEXT or counts[best] <= counts[ENGLISH]:
        return ENGLISH
    return best


def languages_of_question(text: str) -> tuple[str, ...]:
    """Codes of the languages that a question may be in, by its own words. Several where they do
    not tell, and all where they tell nothing."""
    counts = _counts(text)
    most = max(counts.values(), default=0)
    return tuple(each for each in _LATIN if counts[each] == most)


def stem_in(word: str, language: str) -> str:
    """The stem of one word in lower case. `language` counts for Latin letters only."""
    if word.isascii():
        return _stemmed(word, _LATIN.get(language, "english"))
    stem = stem_by_script(word)
    if stem:
        return stem
    return _stemmed(word, _LATIN[language]) if word[0] < _LATIN_END else word


def stem_by_script(word: str) -> str:
    """The stem of a word in lower case of a script that decides its language; "" for others."""
    if word.isascii() or word[0] < _LATIN_END:
        return ""
    bare = _MARKS_ON_LETTERS.sub("", word)
    for name, letters in _SCRIPTS:
        if letters.fullmatch(bare):
            return _stemmed(bare, name)
    return ""


@lru_cache(maxsize=200_000)
def _stemmed(word: str, stemmer: str) -> str:
    stem: str = _STEMMERS[stemmer].stem_word(word)
    return stem


def _counts(text: str) -> Counter[str]:
    text = text[:_LOOKED_AT].lower()
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    counts: Counter[str] = Counter()
    for word in _WORD.findall(text):
        for language in _OF_WORD.get(word, ()):
            counts[language] += 1
    if not text.isascii():
        for letter, language in _LETTERS.items():
            counts[language] += letter in text
    return counts
