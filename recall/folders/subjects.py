"""What a sentence is about, and sentences that only say "it" told apart from those that name it.

By short word lists rather than a parser: a wrong guess costs a clumsy fact, never a wrong one,
because what stands in for a pronoun is a heading or the subject of the sentence before.
"""

import re
from collections.abc import Collection

_PRONOUN = re.compile(
    r"(?P<possessive>its|their|his|her)\s+(?=[a-z])|(?P<pronoun>it|they|he|she)\s+(?=[a-z])|"
    r"(?P<pointer>this|that|these|those)\s+(?=(?:is|are|was|were|has|have|had|will|can|means|"
    r"includes?|applies|allows?|makes?|does|did)\b)",
    re.IGNORECASE,
)
# Words that begin a sentence about something named before it, in the languages that people are
# likeliest to write their notes in. There the sentence stays and its subject is put before it.
_FOREIGN_PRONOUN = re.compile(
    r"(?:er|sie|es|dies|diese|dieser|dieses|das|il|elle|ils|elles|ce|cela|ceci|c'|él|ella|ellos|"
    r"ellas|esto|eso|esta|este|ele|ela|eles|elas|isto|isso|esso|essa|questo|questa|hij|zij|ze|het|"
    r"dit|dat|он|она|они|это)\s|[它他她这那]|これ|それ|彼",
    re.IGNORECASE,
)
_POINTED = re.compile(r"(?:this|that|these|those|such|both|here|there)\s", re.IGNORECASE)
_VERBS = frozenset(
    """is are was were be been has have had will would can could shall should may might must does do
    did isn't aren't wasn't weren't hasn't haven't won't can't couldn't doesn't don't didn't runs
    ran uses needs supports requires required provides provided contains includes allows returns
    stores stored keeps kept sends sent lives lived works worked moved moves starts started ends
    ended costs cost takes took gives gave makes made comes came goes went gets got says said wants
    wanted likes liked owns owned leads led manages managed prefers preferred decided agreed plans
    planned writes wrote reads checks checked builds built ships shipped opens opened closes closed
    replaces replaced joined joins left expires expired handles handled depends belongs holds
    became becomes remains remained stays stayed means""".split()  # noqa: SIM905
)
_STARTERS = frozenset(
    """if when while because although though since after before in on at by for from with as then
    however also but and or so yet once until unless during today yesterday currently usually often
    never always please not no there here""".split()  # noqa: SIM905
)
_SPEAKERS = frozenset({"i", "we", "you", "who", "what", "nobody", "everybody", "somebody"})
_HEADS = frozenset(
    """the a an each every all some any no his her its their our my your""".split()  # noqa: SIM905
)
_MOST_WORDS = 8
_MOST_CHARACTERS = 200
_SIGNS = ".,;:!?()[]\"'“”’*_`"
_INNER_CAPITAL = re.compile(r"(?<=[\w,] )([^\W\d_a-z]\w+)")
_ARTICLE = re.compile(r"(?:the|a|an)\s+", re.IGNORECASE)


def subject_of(sentence: str) -> str:
    """The words before the first verb, as the sentence has them; empty when that is not clear."""
    words = sentence.split()
    if not words or words[0].lower().strip(",;") in _STARTERS or _PRONOUN.match(sentence):
        return ""
    if words[0].lower() in _SPEAKERS:
        return ""
    for index, word in enumerate(words[: _MOST_WORDS + 1]):
        is_past = word.islower() and word.endswith("ed") and len(word) > 4
        if word in _VERBS or (is_past and words[:index] and words[index - 1].lower() not in _HEADS):
            subject = " ".join(words[:index])
            return subject if len(subject) <= _MOST_CHARACTERS and subject[-1:] != "," else ""
        if word.endswith((",", ";", ":")):
            return ""
    return ""


def resolved(sentence: str, subject: str) -> str:
    """The sentence with what it is about in it. `subject` is what a pronoun at its start stands
    for; empty when there is none."""
    if not subject:
        return sentence
    found = _PRONOUN.match(sentence)
    if found is None:
        if _FOREIGN_PRONOUN.match(sentence) or _POINTED.match(sentence):
            return f"{subject}: {sentence}"
        return sentence
    rest = sentence[found.end() :]
    if not _agrees(found.group().strip().lower(), subject):
        return f"{subject}: {sentence}"
    if found["possessive"]:
        return f"{subject}{chr(39) if subject.endswith('s') else chr(39) + 's'} {rest}"
    return f"{subject} {rest}"


def _agrees(pronoun: str, subject: str) -> bool:
    """Whether the pronoun can stand for the subject: by number, and persons have a name."""
    is_plural = subject.endswith("s") or " and " in subject or subject[:1].isdigit()
    if pronoun in ("they", "their", "these", "those"):
        return is_plural
    if pronoun in ("he", "she", "his", "her"):
        return subject[:1].isupper() and not is_plural
    return True


def leans_on_context(sentence: str) -> bool:
    """Whether it begins with a word for something named before."""
    return bool(
        _PRONOUN.match(sentence) or _POINTED.match(sentence) or _FOREIGN_PRONOUN.match(sentence)
    )


def names_nothing(sentence: str, names: Collection[str] = ()) -> bool:
    """Whether no name or number stands in it. A capital at its beginning counts only in one of
    `names`, and in a word like OpenSearch. In scripts that do not set names apart it is taken to
    name something."""
    if not sentence.isascii() and len(sentence.split()) == 1:
        return False
    first, *rest = sentence.split()
    bare = first.strip(_SIGNS)
    if bare in names or (len(bare) > 1 and not bare[1:].islower()):
        return False
    return not any(word[:1].isupper() or any(map(str.isdigit, word)) for word in rest)


def names_in(text: str) -> frozenset[str]:
    """Words that are written with a capital where no sentence begins."""
    return frozenset(found.group(1) for found in _INNER_CAPITAL.finditer(text))


def without_article(words: str) -> str:
    return _ARTICLE.sub("", words, count=1)
