"""Understanding a question: its words, its phrases, its time and its platform.

Pure functions; nothing here reads the database. `understand()` is the entry.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from backread.domain import Platform
from backread.errors import InvalidInput
from backread.store.fulltext import WordQuery, words
from backread.text.stemmers import languages_of_question
from recall.dates.reading import find_days, language_of
from recall.dates.recency import asks_for_recent
from recall.dates.window import Days, TimeWindow, month_days, to_window, year_days, zone_named

# Words that ask instead of naming what is asked for. They stand in nearly every message of a
# dialogue, and BM25 would spend the score on them (+6 points of recall without them).
QUESTION_WORDS = frozenset(
    """a an the of to in on at for from by with about into as is are was were be been being am do
    does did doing done have has had having will would shall should can could may might must i me
    my mine we us our ours you your yours he him his she her hers it its they them their theirs
    this that these those there here what which who whom whose when where why how and or but if
    so than then not no nor too very just also any some all both each other such only own same
    tell say said told ask asked talk talked discuss discussed mention mentioned remember recall
    please s t ll re ve d m don didn doesn isn wasn""".split()  # noqa: SIM905 - easier to read
)
_PRONOUNS = frozenset(
    """it its that this these those they them their he him his she her hers there one
    ones""".split()  # noqa: SIM905
)
# A date in "what did we discuss in May?" is the chat's own. One in "where did Ada go in May?" is
# the event's, which may be told weeks later, and "I am tired today" asks for nothing of today's.
_ASKS = re.compile(
    r"\W*(?:and\s+|so\s+|please\s+)*(?:what|which|who|whom|whose|when|where|why|how|did|do|does|have|"
    r"has|was|were|is|are|find|show|list|recall|remind|search|summar|give me|tell me|anything|"
    r"everything)",
    re.IGNORECASE,
)
_ABOUT_CHATS = re.compile(
    r"\b(?:i|we|you|our|us|my)\b.{0,40}\b(?:talk|discuss|chat|ask|tell|told|say|said|mention|"
    r"suggest|recommend|advi[sc]|explain|decid|agree|conclud|plan|work|writ|wrote|draft|help|"
    r"brainstorm)|\b(?:conversation|chat|session|message|discussion|question)s?\b",
    re.IGNORECASE | re.DOTALL,
)
_LEFT_IN_FRONT = re.compile(
    r"^\s*(?:(?:in|on|at|during|over|around|within|throughout|from|between|by)\b)?"
    r"(?:\s+the\b)?[\s,、،]*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?。！？؟\n]+[.!?。！？؟]*")
_PHRASE = re.compile(r'"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|「([^」]+)」')
_EXCLUDED = re.compile(r'(?<!\S)-(?:"([^"]+)"|(\w[^\s"]*))')
_BARE_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
# What clients call a platform, and the slugs that it stands for. Slugs name themselves, too.
_PLATFORM_NAMES: dict[str, tuple[Platform, ...]] = {
    **{each.value: (each,) for each in Platform},
    "claude": (Platform.CLAUDE_AI, Platform.CLAUDE_CODE),
    "chatgpt": (Platform.CHATGPT, Platform.CHATGPT_EXPORTER),
    "openai": (Platform.CHATGPT, Platform.CHATGPT_EXPORTER),
    "gemini": (Platform.GEMINI_TAKEOUT, Platform.GEMINI_AISTUDIO, Platform.GEMINI_CLI),
    "copilot": (Platform.MS_COPILOT, Platform.VSCODE_COPILOT, Platform.COPILOT_CLI),
    "mistral": (Platform.LECHAT,),
}
_CONTEXT_WORDS = 12
_CONTEXT_CHARACTERS = 600
_FEW_WORDS = 3
_MAX_TERMS = 64


@dataclass(frozen=True, slots=True)
class Question:
    """One question, ready to be searched for.

    `time` is inclusive; both ends None = any time. `is_time_strict`: nothing outside of it may be
    found; otherwise what lies inside is only preferred. `is_exact`: the same for quoted phrases.
    """

    text: str
    lexical: str
    dense: str
    phrases: tuple[tuple[str, ...], ...]
    excluded: tuple[tuple[str, ...], ...]
    time: TimeWindow
    is_time_strict: bool
    is_exact: bool
    platforms: tuple[str, ...]
    as_of: datetime | None = None  # nothing said later may be found
    recent: datetime | None = None  # what was said shortly before counts more
    is_span: bool = False  # nothing is asked for but the time: all of it, in order
    languages: tuple[str, ...] = ()  # codes of those that it may be in, of Latin letters

    @property
    def has_operators(self) -> bool:
        return bool(self.phrases or self.excluded)

    @property
    def is_asking(self) -> bool:
        """Whether an answer is looked for, and not the words themselves."""
        if self.is_exact:
            return False
        return self.text.rstrip().endswith(("?", "？", "؟")) or _ASKS.match(self.text) is not None

    @property
    def language(self) -> str:
        """Code of the one language of Latin letters that it is in; English where that is open."""
        return self.languages[0] if len(self.languages) == 1 else "en"

    @property
    def terms(self) -> tuple[str, ...]:
        """The words that name what is asked for, folded, without repeats."""
        return tuple(dict.fromkeys(words(self.lexical)))

    def any_words(self) -> WordQuery:
        """For full text: at least one of the words, none of the excluded; and every phrase if
        they are meant exactly."""
        if self.phrases and self.is_exact:
            return self.all_phrases()
        loose = (tuple(words(each)) for each in self.lexical.split())
        any_of = [each for each in dict.fromkeys(loose) if each]
        return WordQuery(any_of=any_of[:_MAX_TERMS], excluded=self.excluded)

    def all_phrases(self) -> WordQuery:
        """For full text: every phrase, none of the excluded words."""
        return WordQuery(required=self.phrases, excluded=self.excluded)


def understand(
    text: str,
    *,
    asked_at: datetime,
    zone: str = "UTC",
    after: str | None = None,
    before: str | None = None,
    platform: str | None = None,
    context: str = "",
    operators: bool = False,
    as_of: datetime | None = None,
) -> Question:
    """Reads a question as its asker meant it.

    `after` and `before` win over dates in the text. `context` is recent dialogue: it is used when
    the question points at something it does not name. With `operators`, as in a search box, a
    quoted phrase must occur and `-word` must not; a question in prose only prefers what it
    quotes. Raises InvalidInput for a date bound that
    is not ISO 8601, for a window that ends before it starts, and for an empty question.
    """
    text = text.strip()
    if not text:
        raise InvalidInput("The query is empty.", hint="Say what to look for.")
    bare, excluded = _take_excluded(text) if operators else (text, ())
    phrases = tuple(tuple(words(next(filter(None, match)))) for match in _PHRASE.findall(bare))
    window = _window(bare, asked_at, zone, after, before)
    is_strict = not window.phrase or _asks_of_chats(bare, window.phrase)
    searched = bare
    if window.phrase and is_strict:
        rest = bare.replace(window.phrase, " ")
        searched = re.sub(r"\s{2,}", " ", rest).strip(" ,、،") or bare
    lexical, dense = without_question_words(searched), searched
    if context and _points_elsewhere(searched):
        named = dict.fromkeys(without_question_words(context).split())
        lexical = " ".join([lexical, *list(named)[:_CONTEXT_WORDS]])
        dense = f"{context[:_CONTEXT_CHARACTERS]}\n{searched}"
    return Question(
        text=text,
        lexical=lexical,
        dense=dense,
        phrases=tuple(phrase for phrase in phrases if phrase),
        excluded=excluded,
        time=window,
        is_time_strict=is_strict,
        is_exact=operators,
        platforms=platform_slugs(platform),
        as_of=as_of,
        recent=asked_at if asks_for_recent(text) else None,
        languages=languages_of_question(text),
    )


def without_question_words(text: str) -> str:
    """The words that are left, in order, as they were written; all of them when none would be."""
    parts = re.findall(r"[^\s\"“”„«»「」,;:!?¿¡؟،、。()\[\]{}]+", text)
    language = language_of(text)
    asking = QUESTION_WORDS if language is None else language.question_words
    left = [part for part in parts if _core(part) not in asking]
    return " ".join(left or parts)


def _core(part: str) -> str:
    word = part.lower().strip(".'’`*_-")
    return re.split("['’]", word, maxsplit=1)[0] or word


def _asks_of_chats(text: str, phrase: str) -> bool:
    """Whether the sentence that names the time asks what was said then."""
    at = text.find(phrase)
    language = language_of(text)
    # The time itself may hold dots ("14. Mai") and may come first ("last week, what did …").
    bare = text.replace(phrase, "_" * len(phrase), 1)
    for sentence in _SENTENCE.finditer(bare):
        if sentence.start() <= at < sentence.end():
            said = sentence.group().replace("_" * len(phrase), "", 1)
            said = _LEFT_IN_FRONT.sub("", said)
            if language is not None:
                return language.about_chats.search(said) is not None
            return bool(_ASKS.match(said) and _ABOUT_CHATS.search(said))
    return False


def _points_elsewhere(text: str) -> bool:
    """Whether a question leans on what was said before: "and what did she think of it?"."""
    parts = [_core(part) for part in text.split()]
    naming = [part for part in parts if part not in QUESTION_WORDS and part not in _PRONOUNS]
    return len(naming) < _FEW_WORDS and (not naming or any(part in _PRONOUNS for part in parts))


def _take_excluded(text: str) -> tuple[str, tuple[tuple[str, ...], ...]]:
    found = [tuple(words(quoted or word)) for quoted, word in _EXCLUDED.findall(text)]
    rest = _EXCLUDED.sub(" ", text).strip()
    if not rest:
        return text, ()  # nothing but exclusions: then the words themselves are looked for
    return rest, tuple(each for each in found if each)


def context_text(context: str, turns: Iterable[tuple[str, str]]) -> str:
    """One text out of a summary of the exchange and its last turns, newest first: what a question
    points at was most likely said last."""
    recent = [content for role, content in list(turns)[-4:] if role in {"user", "assistant"}]
    recent.reverse()
    return "\n".join(part.strip() for part in (context, *recent) if part.strip())


def platform_slugs(name: str | None) -> tuple[str, ...]:
    """The platforms that a client's name for one stands for; () for none given. Raises
    InvalidInput for an unknown name: an empty answer would look as if nothing had been said."""
    if name is None or not name.strip():
        return ()
    folded = re.sub(r"[\s.-]+", "_", name.strip().lower())
    known = _PLATFORM_NAMES.get(folded)
    if known is None:
        raise InvalidInput(
            "`platform` is not the name of a known platform.",
            hint=f"Use one of: {', '.join(sorted(_PLATFORM_NAMES))}. Or leave it out.",
        )
    return tuple(each.value for each in known)


def _window(
    text: str, asked_at: datetime, zone: str, after: str | None, before: str | None
) -> TimeWindow:
    if after or before:
        window = TimeWindow(
            read_bound(after, "after") if after else None,
            read_bound(before, "before") if before else None,
        )
        if window.after and window.before and window.after > window.before:
            raise InvalidInput(
                f"`after` ({after}) is later than `before` ({before}).",
                hint="Swap the two, or leave one out.",
            )
        return window
    place = zone_named(zone)
    found = find_days(_PHRASE.sub(" ", text), asked_at.astimezone(place).date())
    if found is None:
        return TimeWindow(None, None)
    days, phrase = found
    return to_window(days, place, phrase)


def read_bound(value: str, name: str) -> datetime:
    """An ISO 8601 bound as an instant. A bare date (or month, or year) means its first moment in
    UTC for `after` and its last for `before`; a time without a zone is UTC."""
    text = value.strip()
    try:
        if match := _BARE_DATE.fullmatch(text):
            days = _bare_days(match)
            if name == "after":
                assert days.first is not None
                return datetime.combine(days.first, time.min, UTC)
            assert days.last is not None
            return datetime.combine(days.last, time.max, UTC)
        moment = datetime.fromisoformat(text)
        return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"`{name}` is not a date that can be read.",
            hint="Use ISO 8601, such as 2024-03-31 or 2024-03-31T18:00:00Z.",
        ) from None


def _bare_days(match: re.Match[str]) -> Days:
    year, month, day = match.groups()
    if day:
        found = date(int(year), int(month), int(day))
        return Days(found, found)
    return month_days(int(year), int(month)) if month else year_days(int(year))
