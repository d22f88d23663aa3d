"""Whether a sentence says what the messages say that it cites. No model is asked.

A sentence stays when its numbers and names stand in what it cites, when enough of its words do,
or some of its words and its meaning by the embedding model, and when the sentence it is nearest
to is not negated where it is not, or the other way round. It is a sieve against invention, not
a proof: a sentence that joins true words into something false may pass.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from backread.llm.embedding import Vectors
from backread.text.stemming import stems_of
from recall.sentences import sentences

Embed = Callable[[Sequence[str]], Vectors]

ENOUGH_WORDS = 0.6  # share of a sentence's words that alone is enough
SOME_WORDS = 0.3  # … with a meaning that is near enough
NEAR_IN_MEANING = 0.55
_CITED_FOR = 0.2  # share of the words that a message must hold to be cited beside another
_NEAREST = 0.5  # share of shared words from which two sentences speak of the same
_COMPARED = 40  # sentences of the evidence whose meaning is looked at

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_TOKEN = re.compile(r"[^\W_][\w'’-]*")
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_SIDES = frozenset(
    """user assistant ai nutzer nutzerin assistent benutzer utilisateur assistante usuario
    asistente usuária usuário assistente utente пользователь ассистент""".split()  # noqa: SIM905
)
_NEGATIONS = frozenset(
    """not no never none without cannot nicht kein keine keinen nie ohne pas jamais sans aucun
    sin nunca não nem sem non mai senza не нет без никогда""".split()  # noqa: SIM905
)
_NEGATED = re.compile(r"n['’]t\b|ない|ません|不|没|未")
_GERMAN_NAMES = 0.5  # German writes every noun with a capital, and a summary may use others


@dataclass(frozen=True, slots=True)
class Evidence:
    """A message that may be cited, and its date as it was shown to the model."""

    text: str
    day: str = ""

    @property
    def whole(self) -> str:
        return f"{self.day}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`cited`: which of the pieces of evidence hold the sentence up, by place."""

    is_supported: bool
    cited: tuple[int, ...] = ()
    why: str = ""


def check(
    sentence: str, evidence: Sequence[Evidence], *, language: str = "", embed: Embed | None = None
) -> Verdict:
    """See the module. `language` is an ISO code, or empty."""
    whole = "\n".join(each.whole for each in evidence)
    missing = _numbers(sentence) - _numbers(whole)
    if missing:
        return Verdict(False, why=f"number {min(missing)}")
    if not _names_occur(sentence, whole, language):
        return Verdict(False, why="name")
    stems = set(stems_of(sentence)) - _SIDES
    if not stems:
        return Verdict(False, why="empty")
    shares = [len(stems & set(stems_of(each.whole))) / len(stems) for each in evidence]
    together = len(stems & set(stems_of(whole))) / len(stems)
    if together < SOME_WORDS:
        return Verdict(False, why="words")
    if together < ENOUGH_WORDS and not _is_near(sentence, evidence, embed):
        return Verdict(False, why="meaning")
    if any(_contradicts(part, evidence) for part in [*sentences(sentence)] or [sentence]):
        return Verdict(False, why="negation")
    best = max(shares)
    cited = tuple(n for n, share in enumerate(shares) if share >= max(_CITED_FOR, best / 3))
    return Verdict(True, cited or (shares.index(best),))


def most_alike(sentence: str, texts: Sequence[str]) -> int:
    """The place of the text that shares most words with the sentence; -1 when none does."""
    stems = set(stems_of(sentence))
    shared = [len(stems & set(stems_of(each))) for each in texts]
    best = max(shared, default=0)
    return shared.index(best) if best else -1


def _numbers(text: str) -> set[str]:
    """Numbers as they are read: 1,200 and 1.200 are one, and so are 03 and 3."""
    found = set()
    for match in _NUMBER.findall(text):
        joined = re.sub(r"[.,](?=\d{3}\b)", "", match)
        found.add(joined.lstrip("0") or "0")
        found.update(part.lstrip("0") or "0" for part in re.split(r"[.,:]", match))
    return found


def _names_occur(sentence: str, whole: str, language: str) -> bool:
    tokens = _TOKEN.findall(sentence)
    known = {_bare(each) for each in _TOKEN.findall(whole)}
    sure, likely = [], []
    for place, token in enumerate(tokens):
        bare = _bare(token)
        if bare in _SIDES or not token[:1].isupper():
            continue
        if any(letter.isupper() for letter in token[1:]) or any(c.isdigit() for c in token):
            sure.append(bare)
        elif place > 0:
            likely.append(bare)
    if not all(_occurs(each, known) for each in sure):
        return False
    found = [_occurs(each, known) for each in likely]
    if language == "de":
        return not found or sum(found) >= _GERMAN_NAMES * len(found)
    return all(found)


def _occurs(name: str, known: set[str]) -> bool:
    if name in known:
        return True
    # An ending more or less is the same name: Lisbon's, Annas, Lissabons.
    return len(name) > 3 and any(
        each.startswith(name[:-1]) or (len(each) > 3 and name.startswith(each)) for each in known
    )


def _bare(token: str) -> str:
    return re.sub(r"['’]s?$", "", token).lower()


def _is_near(sentence: str, evidence: Sequence[Evidence], embed: Embed | None) -> bool:
    if embed is None:
        return False
    said = [each for piece in evidence for each in sentences(piece.text)]
    stems = set(stems_of(sentence))
    said.sort(key=lambda each: -len(stems & set(stems_of(each))))
    if not said:
        return False
    vectors = embed([sentence, *said[:_COMPARED]])
    return bool(np.max(vectors[1:] @ vectors[0]) >= NEAR_IN_MEANING)


def _contradicts(sentence: str, evidence: Sequence[Evidence]) -> bool:
    """Whether all that says the same says it with, or without, a "not" that the sentence has
    otherwise."""
    stems = set(stems_of(sentence)) - _SIDES
    alike = [
        each
        for piece in evidence
        for each in sentences(piece.text)
        if len(stems & set(stems_of(each))) >= _NEAREST * len(stems)
    ]
    if not alike:
        return False
    is_negated = _is_negated(sentence)
    return all(_is_negated(each) is not is_negated for each in alike)


def _is_negated(text: str) -> bool:
    if _NEGATED.search(text):
        return True
    return not _NEGATIONS.isdisjoint(token.lower() for token in _TOKEN.findall(text))
