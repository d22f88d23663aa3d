"""Chats as people and tools write them down in Markdown or plain text: where turns begin, who
speaks, and what is told about the chat above the first of them.

Three ways to begin a turn are known: a heading (`## User`), a name in bold (`**User:**`) and a
name at the start of a line (`User:`). The first one in a file is the one that counts in it, so
that an answer may hold any other.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from backread.domain import Role
from ingest.importers.base import time_in
from ingest.importers.drafts import Draft

_USER = ("user", "human", "me", "you", "prompt")
_ASSISTANT = ("assistant", "ai", "bot", "model", "response", "llm", "ai assistant")
_OTHERS = {"system": Role.SYSTEM, "system prompt": Role.SYSTEM, "tool": Role.TOOL}
_PLAIN_USER = frozenset({"user", "human"})
# Products and models that answer under their own names, with a version or a variant behind.
_PRODUCT = re.compile(
    r"(?:chat ?gpt|gpt|claude|gemini|bard|copilot|grok|deepseek|perplexity|mistral|le chat|llama|"
    r"qwen|gemma|phi|command|o[1-9]|sonnet|opus|haiku|kimi|glm)"
    r"(?:[ ./_-]?[\w.()][\w ./()+-]{0,30})?",
    re.IGNORECASE,
)
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*#*$")
_BOLD = re.compile(r"(?:[-*][ \t]+)?(\*\*|__)(.{1,80}?)(?::\1|\1[ \t]*:|\1(?=[ \t]*$))[ \t]*(.*)$")
_PLAIN = re.compile(r"([^\s:#>*`|\[-][^:\n]{0,40}):(?:[ \t]+(.*))?$")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_DECORATION = re.compile(r"[^\w\s().:/+-]+")  # emoji and the like
_ISO = re.compile(
    r"\d{4}([-/])\d\d\1\d\d"
    r"(?:[T ,]+\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:\s?(?:Z|UTC|[+-]\d\d:?\d\d))?)?"
)
_HALF = r"(?:\s?([AaPp])\.?[Mm]\.?\b)?"
_SPOKEN = re.compile(
    r"([A-Z][a-z]{2,8})\.? (\d{1,2}),? (\d{4})(?:,? (?:at )?(\d\d?:\d\d)" + _HALF + ")?"
)
_CLOCK = re.compile(r"(?<![\d:])(\d\d?):(\d\d)(?::(\d\d))?(?![\d:])" + _HALF)
_ASIDE = re.compile(r"\([^()]*\d[^()]*\)")  # a date in a form that is not read
_STAMP = re.compile(r"\[Timestamp: ([^\]]{8,40})\]$")
_META = re.compile(r"(?:[-*>][ \t]+)?\**([A-Za-z][A-Za-z _]{1,24})\**:\**[ \t]*(\S.*)$")
_META_KEYS = {
    "title": "title",
    "date": "date",
    "created": "date",
    "created at": "date",
    "exported": "",  # a time that is not the chat's
    "exported at": "",
    "exported on": "",
    "updated": "updated_at",
    "updated at": "updated_at",
    "create time": "date",
    "update time": "updated_at",
    "model": "model",
    "modelkey": "model",
    "topic": "title",
    "epoch": "date",
    "link": "url",
    "url": "url",
    "source": "url",
    "id": "id",
    "conversation id": "id",
    "chat id": "id",
}
_RULE = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_BLOCK_END = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_HEADING_CHARS = 200  # no longer line is the heading of a turn
_MOST_ABOVE = 4_000  # characters over the first turn; a note that quotes a chat has more
_FRONT_MATTER_LIMIT = 64_000
OWN_MARK = "backread archive"  # in the front matter of the readable files in Backread's archive


@dataclass(slots=True)
class Page:
    """What a file says about the chat, and its turns."""

    about: dict[str, str] = field(default_factory=dict)
    drafts: list[Draft] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Turn:
    """The beginning of one: in which way, by whom, what else stands in its line."""

    way: str
    speaker: str
    role: Role
    words: str
    when: str


def is_transcript(text: str) -> bool:
    """Whether at least one turn of a person and one of an assistant are in it, the first of them
    near the top."""
    about, body = _front_matter(text)
    if OWN_MARK in about:
        return False
    way = ""
    roles: set[Role] = set()
    above = 0
    for line, turn in _lines(body):
        if turn is None or (way and turn.way != way):
            above += 0 if way else len(line) + 1
            if above > _MOST_ABOVE:
                return False
            continue
        way = turn.way
        roles.add(turn.role)
        if {Role.USER, Role.ASSISTANT} <= roles:
            return True
    return False


def read_transcript(text: str) -> Page:
    """The turns in order; what stands above them and is no detail of the chat comes first, as
    the system's."""
    about, body = _front_matter(text)
    page = Page({_META_KEYS.get(key, key): value for key, value in about.items() if value})
    page.about.pop("", None)
    way = ""
    above: list[str] = []
    turns: list[tuple[_Turn, list[str], datetime | None]] = []
    day: datetime | None = None
    for line, turn in _lines(body):
        if turn is not None and turn.way == (way or turn.way):
            way = turn.way
            turns.append((turn, [turn.words], _moment(turn.when, day)))
        elif turns and (found := _day_heading(line)) is not None:
            day = found
        elif turns:
            turns[-1][1].append(line)
        elif (found := _day_heading(line)) is not None:
            day = found
            page.about.setdefault("date", line.strip("# \t"))
        elif not _tells(line, page.about):
            above.append(line)
    page.about["date"] = _date_of(page.about.get("date"))
    _add_drafts(page, above, turns)
    return page


def _add_drafts(
    page: Page, above: list[str], turns: list[tuple[_Turn, list[str], datetime | None]]
) -> None:
    notes = "\n".join(above).strip()
    if notes:
        page.drafts.append(Draft("", Role.SYSTEM, texts=[notes]))
    for turn, lines, moment in turns:
        while lines and (not lines[-1].strip() or _RULE.match(lines[-1])):
            lines.pop()
        lines, moment = _own_time(lines, moment)
        draft = Draft("", turn.role, texts=["\n".join(lines).strip()], created_at=moment)
        if turn.role is Role.ASSISTANT and _PRODUCT.fullmatch(turn.speaker):
            draft.author = turn.speaker
        if not draft.is_empty:
            page.drafts.append(draft)


def _own_time(lines: list[str], moment: datetime | None) -> tuple[list[str], datetime | None]:
    """A time that has the first line, or a stamp that has the last, to itself belongs to the
    turn, not to its words."""
    told = [place for place, line in enumerate(lines) if line.strip()]
    if not told:
        return lines, moment
    stamp = _STAMP.match(lines[told[-1]].strip())
    if stamp and _ISO.fullmatch(stamp[1]):
        return lines[: told[-1]], moment or _moment(stamp[1], None)
    alone = lines[told[0]].strip().strip("*_()[] \t")
    if moment is None and (_ISO.fullmatch(alone) or _SPOKEN.fullmatch(alone)):
        return lines[told[0] + 1 :], _moment(alone, None)
    return lines, moment


def _lines(body: str) -> Iterator[tuple[str, _Turn | None]]:
    """Every line, and the turn that begins with it; none does inside a code block."""
    fence = ""
    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" \t`~"):
                fence = ""
            yield line, None
        elif mark:
            fence = mark[1]
            yield line, None
        else:
            yield line, _turn(line)


def _turn(line: str) -> _Turn | None:
    heading = _HEADING.match(line) if len(line) <= _HEADING_CHARS else None
    if heading:
        return _named(heading[1], heading[2], "")
    bold = _BOLD.match(line)
    if bold:
        return _named("**", bold[2], bold[3])
    plain = _PLAIN.match(line)
    return _named(":", plain[1], plain[2] or "") if plain else None


def _named(way: str, label: str, words: str) -> _Turn | None:
    """The turn, if the label names a speaker, with or without a time beside the name."""
    when = label
    for pattern in (_ISO, _SPOKEN, _CLOCK):
        label = pattern.sub(" ", label)
    has_when = label != when
    label = _ASIDE.sub(" ", label)
    name = _DECORATION.sub(" ", label).replace("()", " ")
    name = " ".join(re.sub(r"\s[-:/.]+(?=\s|$)|^[-:/.\s]+|[-:/.\s]+$", " ", name).split())
    name = name.removesuffix(" said").removesuffix("( )").strip()
    role = _role(way, name)
    return _Turn(way, name, role, words, when if has_when else "") if role else None


def _role(way: str, name: str) -> Role | None:
    low = name.casefold()
    if low in (_PLAIN_USER if way == ":" else _USER):
        return Role.USER
    if low in _OTHERS:
        return _OTHERS[low]
    if low in _ASSISTANT and not (way == ":" and low in ("response", "model")):
        return Role.ASSISTANT
    return Role.ASSISTANT if _PRODUCT.fullmatch(name) else None


def _day_heading(line: str) -> datetime | None:
    """The day, if the line is a heading or a bold line of a date alone."""
    text = line.strip()
    if not text.startswith(("#", "**", "__")):
        return None
    alone = text.strip("#*_ \t")
    if _ISO.fullmatch(alone) or _SPOKEN.fullmatch(alone):
        return _moment(alone, None)
    return None


def _moment(text: str, day: datetime | None) -> datetime | None:
    """The time in a text; a time of the day alone needs the day. Without a zone it is UTC."""
    found = _ISO.search(text)
    if found:
        written = re.sub(r"[ ,]+(?=\d\d:)", "T", found[0]).replace("/", "-")
        return time_in(written.replace("UTC", "Z").replace(" ", ""))
    spoken = _SPOKEN.search(text)
    if spoken:
        month, number, year, clock, half = spoken.groups(default="")
        date = _spoken_day(month, number, year)
        return _at(date, clock or "0:00", half) if date else None
    clock_only = _CLOCK.search(text)
    if clock_only and day is not None:
        return _at(day, f"{clock_only[1]}:{clock_only[2]}", clock_only[4] or "")
    return None


def _at(day: datetime, clock: str, half: str) -> datetime | None:
    """The day at a time such as 10:03, or 10:03 in the half of the day that is named."""
    hour, minute = map(int, clock.split(":"))
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in "pP" else 0)
    if hour > 23 or minute > 59:
        return None
    return day.replace(hour=hour, minute=minute, second=0, microsecond=0)


def _spoken_day(month: str, day: str, year: str) -> datetime | None:
    for form in ("%B", "%b"):
        try:
            found = datetime.strptime(f"{month} {day} {year}", f"{form} %d %Y")
        except ValueError:
            continue
        return found.replace(tzinfo=UTC)
    return None


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """The single values of the YAML block at the top, if there is one, and the rest."""
    text = text.lstrip("\ufeff \t\r\n")
    end = _BLOCK_END.search(text, 4) if text.startswith("---\n") else None
    if end is None or end.start() > _FRONT_MATTER_LIMIT:
        return {}, text
    about: dict[str, str] = {}
    for line in text[4 : end.start()].split("\n"):
        key, colon, value = line.partition(":")
        if colon and key.strip() and not key.startswith((" ", "#", "-")):
            about.setdefault(_key(key), _unquoted(value.strip()))
    return about, text[end.end() :]


def _unquoted(value: str) -> str:
    """A YAML scalar's text; what begins a list or a block is none."""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        quote = value[0]
        return value[1:-1].replace('\\"' if quote == '"' else "''", quote)
    return "" if value.startswith(("[", "{", "|", ">", "&", "*")) else value


def _tells(line: str, about: dict[str, str]) -> bool:
    """Takes a title or a detail in; False when the line is text of its own."""
    heading = _HEADING.match(line) if len(line) <= _HEADING_CHARS else None
    if heading and heading[1] == "#":
        return about.setdefault("title", heading[2].strip()) == heading[2].strip()
    told = _META.match(line.strip())
    if told and _key(told[1]) in _META_KEYS:
        key = _META_KEYS[_key(told[1])]
        if key:
            about.setdefault(key, told[2].strip().strip("*`<>"))
        return True
    return not line.strip() or bool(_RULE.match(line))


def _key(name: str) -> str:
    return name.strip().casefold().replace("_", " ").replace("-", " ")


def _date_of(value: str | None) -> str:
    moment = time_in(value) or _moment(value or "", None)
    return moment.isoformat() if moment else ""
