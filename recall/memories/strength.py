"""What kind of memory a statement is, and how strong it still is.

Kinds follow the usual division of memory (Tulving, "Episodic and semantic memory", 1972, and
procedural and working memory beside them) and are told by the words of the statement.

Strength follows the forgetting curve R = e^(-t/S) (Ebbinghaus, 1885) in the form of MemoryBank
(Zhong et al., 2024, arXiv:2305.10250): S begins at 1 and grows by 1 with each use, and t starts
anew then. Here t counts in units of `STABLE_DAYS`, so a memory that nobody uses is at .37 after a
month, and one that was used five times is there after half a year.
"""

import math
import re
from datetime import datetime, timedelta
from enum import StrEnum

STABLE_DAYS = 30.0
# A use counts again only after so long: one conversation that reads a memory five times is one.
REINFORCE_EVERY = timedelta(hours=1)


class MemoryKind(StrEnum):
    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


_PROCEDURAL = re.compile(
    r"\b(?:always|never|prefers?|don['’]t|do not|should|must|avoid|instead of|make sure|how to|"
    r"before (?:committing|merging|deploying|pushing|releasing)|whenever|step \d|immer|niemals?|"
    r"bevorzugt|toujours|jamais|préfère|siempre|nunca|prefiere|sempre|mai)\b"
    r"|^(?:use|run|call|write|keep|put|add|check|name|format|commit|test)\s|总是|必须|不要|必ず|いつも",
    re.IGNORECASE,
)
_WORKING = re.compile(
    r"\b(?:currently|right now|at the moment|today|tomorrow|this (?:week|month|sprint)|in progress|"
    r"to-?do|todo|next step|working on|blocked|pending|derzeit|gerade|heute|actuellement|"
    r"en cours|actualmente|ahora|attualmente)\b|目前|正在|現在",
    re.IGNORECASE,
)
_EPISODIC = re.compile(
    r"\b(?:19|20)\d\d-\d\d?-\d\d?\b|\b(?:yesterday|ago|last (?:week|month|year|night|spring|summer|"
    r"autumn|fall|winter|mon|tues|wednes|thurs|fri|satur|sun)\w*)\b|"
    r"\b(?:on|in|am|im|le|el)\s+(?:\d{1,2}(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?)?"
    r"(?:jan|feb|mar|mär|apr|avr|abr|may|mai|jun|jul|aug|ago|sep|oct|okt|nov|dec|dez|déc|dic)\w*"
    r"(?:\s+(?:de\s+)?(?:19|20)\d\d)?\b"
    r"|\b(?:met|visited|moved|bought|started|finished|shipped|launched|fixed|decided|went|"
    r"travelled|happened)\b.*\b(?:19|20)\d\d\b|\d{4}年\d{1,2}月",
    re.IGNORECASE,
)


def memory_kind(text: str) -> MemoryKind:
    """How something is done, what is going on, what happened once; else what is so."""
    if _PROCEDURAL.search(text):
        return MemoryKind.PROCEDURAL
    if _WORKING.search(text):
        return MemoryKind.WORKING
    if _EPISODIC.search(text):
        return MemoryKind.EPISODIC
    return MemoryKind.SEMANTIC


def memory_strength(
    created_at: datetime, used_at: datetime | None, use_count: int, *, now: datetime
) -> float:
    """0 to 1; 1 at the moment when it was stored or used last."""
    idle = max(0.0, (now - (used_at or created_at)).total_seconds() / 86_400)
    return math.exp(-idle / (STABLE_DAYS * (1 + use_count)))
