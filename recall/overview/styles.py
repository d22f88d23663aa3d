"""How somebody works with assistants, told only where their own words show it.

Each trait is a sentence of ours and the requests that show it. It is told when it was seen in
several chats, with those as evidence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

FEWEST_CHATS = 3


@dataclass(frozen=True, slots=True)
class Trait:
    key: str
    sentence: str
    cue: re.Pattern[str]


def _trait(key: str, sentence: str, *cues: str) -> Trait:
    return Trait(key, sentence, re.compile("|".join(cues), re.IGNORECASE))


TRAITS = (
    _trait(
        "short",
        "Asks for short, direct answers.",
        r"\b(?:keep (?:it|this) (?:short|brief|concise)|be (?:brief|concise)|short answer|"
        r"in one sentence|no fluff|tl;?dr|briefly)\b",
        r"\bkurz und knapp\b|\bfass(?:e)? dich kurz\b|\bsois bref\b|\bsé breve\b",
        "简短|简洁|簡潔に|短く|짧게",
    ),
    _trait(
        "steps",
        "Asks to be led step by step.",
        r"\bstep[- ]by[- ]step\b|\bone step at a time\b|\bschritt für schritt\b|"
        r"\bétape par étape\b|\bpaso a paso\b|\bpasso passo\b",
        "一步一步|逐步|ステップバイステップ|단계별",
    ),
    _trait(
        "examples",
        "Asks for examples.",
        r"\b(?:give|show)(?: me)? (?:an? |some |a few )?(?:concrete )?examples?\b|"
        r"\b(?:mit|gib|zeig)\b.{0,20}\bbeispielen?\b|\bun exemple\b|\bun ejemplo\b",
        "举个例子|例を|예를 들",
    ),
    _trait(
        "sources",
        "Wants sources for what is claimed.",
        r"\b(?:cite|give|with|what are) (?:me |your |the )?(?:sources|references|citations)\b|"
        r"\bsource\?|\bmit quellen\b|\bquelle\?|\bavec (?:les |des )?sources\b|\bcon fuentes\b",
        "给出来源|出典",
    ),
    _trait(
        "tables",
        "Likes comparisons in tables.",
        r"\b(?:in|as|make) (?:it )?(?:an? )?table\b|\bals tabelle\b|\ben (?:un )?tableau\b|"
        r"\ben una tabla\b",
        "用表格|表にして|표로",
    ),
    _trait(
        "critique",
        "Asks for honest criticism of drafts and plans.",
        r"\bbe (?:brutally )?(?:honest|critical)\b|\bcritique\b|"
        r"\bwhat(?:'s| is) wrong with (?:my|this)\b|"
        r"\bpoke holes\b|\breview my\b|\bplay devil'?s advocate\b|\bsei (?:ehrlich|kritisch)\b",
        "批评|率直に",
    ),
    _trait(
        "why",
        "Asks for reasons, not only for results.",
        r"\bexplain why\b|\bwhy (?:exactly|does that)\b|\bwhat(?:'s| is) the reason(?:ing)?\b|"
        r"\bwarum genau\b|\bexplique pourquoi\b|\bexplica por qué\b",
    ),
    _trait(
        "rewording",
        "Has texts of their own reworded or corrected.",
        r"\b(?:rewrite|rephrase|reword|proofread|correct) (?:this|my|the following)\b|"
        r"\b(?:korrigier|formulier)\w* .{0,20}\b(?:text|mail|satz|um)\b|"
        r"\bcorrige (?:ce|mon|mi|este)\b",
        "润色|改写|添削",
    ),
    _trait(
        "alternatives",
        "Asks for several options to choose from.",
        r"\b(?:give|suggest|list)(?: me)? (?:\d+|three|five|ten|some|several|a few) "
        r"(?:options|alternatives|ideas|variants|names|titles)\b|\bpros and cons\b|"
        r"\bvor- und nachteile\b|\bpour et contre\b|\bpros y contras\b",
        "优缺点|メリットとデメリット",
    ),
)
_BY_KEY = {each.key: each for each in TRAITS}

# Something a person says of themselves, kept in their own words with its date.
_OF_ONESELF = re.compile(
    r"^(?:I(?:'m| am) (?:an? |the )?[a-z][\w -]{2,60}|I work (?:as|at|for|in|with)\b|I live in\b|"
    r"I(?:'m| am) (?:learning|working on|building|studying|writing|teaching)\b|I run an?\b|"
    r"I study\b|"
    r"Ich bin (?:ein |eine )?[A-ZÄÖÜ]\w+|Ich arbeite (?:als|bei|an|in)\b|Ich wohne in\b|"
    r"Ich lerne\b|"
    r"Je suis [a-z]\w+|Je travaille\b|J'habite\b|J'apprends\b|"
    r"Trabajo (?:como|en)\b|Soy [a-z]\w+|Vivo en\b|Estoy aprendiendo\b|"
    r"我是一[名个位]|我在.{1,12}工作|我住在|我正在学|私は.{1,12}(?:です|をしています)|"
    r"저는 .{1,12}입니다)"
)
_NOT_OF_ONESELF = re.compile(
    r"\?$|^I(?:'m| am) (?:not sure|trying|looking|getting|having|going|wondering|thinking|sorry|"
    r"curious|confused|stuck|new|done|back|using|seeing|about|just|in|on|at|from|also|still|afraid|"
    r"happy|fine|interested|aware|sure|ready|unable|able|here)\b",
    re.IGNORECASE,
)


def traits_in(text: str) -> Iterator[str]:
    """Keys of the traits that a message shows."""
    for trait in TRAITS:
        if trait.cue.search(text):
            yield trait.key


def sentence_of(key: str) -> str:
    """What is said of a trait; "" for one that is known no longer."""
    return _BY_KEY[key].sentence if key in _BY_KEY else ""


def is_of_oneself(sentence: str) -> bool:
    """Whether somebody says what they are, do, learn or where they live."""
    return bool(_OF_ONESELF.match(sentence)) and not _NOT_OF_ONESELF.search(sentence)
