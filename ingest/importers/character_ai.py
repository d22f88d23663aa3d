"""Character.AI: a dumper's file of all chats with a character, the website's turns, and the files
of CAI Tools."""

from collections import Counter
from typing import Any

from backread.domain import ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, text_in, time_in
from ingest.importers.drafts import Draft, Thread, digest_id, free_id, in_a_line, in_a_tree


class CharacterAiImporter:
    """Guarantees: oldest message first, the character's greeting among them; answers that were
    not chosen are branches."""

    slug = Platform.CHARACTER_AI.value
    version = 1

    def recognises(self, raw: Any) -> bool:
        """`msgs` with a `src`, `turns` with `candidates`, or `chat` lines with `isHuman`."""
        if not isinstance(raw, dict):
            return False
        if isinstance(raw.get("msgs"), list):
            return "external_id" in raw or any("src" in each for each in dicts_in(raw["msgs"]))
        if any("candidates" in turn for turn in dicts_in(raw.get("turns"))):
            return True
        return any("isHuman" in line for line in dicts_in(raw.get("chat")))

    def identify(self, raw: Raw) -> str:
        """The chat's id; files without one go by their beginning."""
        if text_in(raw.get("external_id")):
            return text_in(raw.get("external_id"))
        for turn in dicts_in(raw.get("turns")):
            chat_id = text_in(dict_in(turn.get("turn_key")).get("chat_id"))
            if chat_id:
                return chat_id
        first = [*dicts_in(raw.get("msgs")), *dicts_in(raw.get("chat"))][:1]
        first = first or dicts_in(raw.get("turns"))[-1:]
        return f"first:{digest_id(str(raw.get('date')), str(first[0]))}" if first else ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The chat has neither an id nor a message.")
        news: Counter[str] = Counter()
        if "msgs" in raw:
            thread = in_a_line(_message(n, m) for n, m in enumerate(dicts_in(raw.get("msgs"))))
        elif "turns" in raw:
            thread = _turns(dicts_in(raw.get("turns")), news)
        else:
            thread = in_a_line(_line(n, m) for n, m in enumerate(dicts_in(raw.get("chat"))))
        created_at, updated_at = thread.times
        character = _character(thread)
        return ParsedConversation(
            platform=Platform.CHARACTER_AI,
            external_id=external_id,
            title=character or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=time_in(raw.get("created", raw.get("date"))) or created_at,
            updated_at=time_in(raw.get("last_interaction")) or updated_at,
            assistant_name=character,
            news=dict(news),
        )


CHARACTER_AI = CharacterAiImporter()


def _character(thread: Thread) -> str:
    authors = [m.author for m in thread.messages if m.role is Role.ASSISTANT and m.author]
    return authors[0] if authors else ""


def _message(place: int, message: Raw) -> Draft:
    source = dict_in(message.get("src"))
    is_human = source.get("is_human") is True
    own_id = text_in(message.get("uuid")) or str(message.get("id") or f"index:{place}")
    draft = Draft(own_id, Role.USER if is_human else Role.ASSISTANT)
    draft.author = "" if is_human else text_in(source.get("name"))
    draft.texts.append(text_in(message.get("text")))
    draft.created_at = time_in(message.get("created"))
    return draft


def _line(place: int, line: Raw) -> Draft:
    is_human = line.get("isHuman") is True
    draft = Draft(f"index:{place}", Role.USER if is_human else Role.ASSISTANT)
    draft.author = "" if is_human else text_in(line.get("name"))
    draft.texts.append(text_in(line.get("message")))
    return draft


def _turns(turns: list[dict[str, Any]], news: Counter[str]) -> Thread:
    """Newest first. An author without `is_human` is the character."""
    drafts: list[Draft] = []
    taken: set[str] = set()
    parent: str | None = None
    for turn in reversed(turns):
        author = dict_in(turn.get("author"))
        is_human = author.get("is_human") is True
        candidates = dicts_in(turn.get("candidates"))
        if not candidates:
            news["turn:no candidates"] += 1
        primary = text_in(turn.get("primary_candidate_id"))
        shown: str | None = None
        for candidate in candidates:
            named = text_in(candidate.get("candidate_id"))
            own_id = free_id(named or f"index:{len(drafts)}", taken)
            role = Role.USER if is_human else Role.ASSISTANT
            draft = Draft(own_id, role, parent, [text_in(candidate.get("raw_content"))])
            draft.author = "" if is_human else text_in(author.get("name"))
            moment = time_in(candidate.get("create_time"))
            draft.created_at = moment or time_in(turn.get("create_time"))
            drafts.append(draft)
            if shown is None or named == primary:
                shown = own_id
        parent = shown or parent
    return in_a_tree(drafts, leaf=parent)
