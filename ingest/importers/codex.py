"""Codex CLI: rollout files, one JSON line an event; older single-file sessions.

Versions say the same thing in two or three places: as items for the model, as events for the
screen, as completed items. Which of them are copies of each other is decided inside one turn,
one copy for one, so that "continue" typed twice stays two messages.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from backread.domain import ParsedConversation, Platform
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in
from ingest.importers.codex_items import Said, said_in
from ingest.importers.codex_session import Session
from ingest.importers.drafts import digest_id, in_a_line, news_of_lines
from ingest.importers.envelopes import LINES_KEY, TITLE_KEY, UNREAD_KEY

_TYPES = {
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "world_state",
    "inter_agent_communication",
    "realtime_item",
}


class CodexImporter:
    """Guarantees: every turn once, whatever the version wrote it into; one id per message."""

    slug = Platform.CODEX.value
    version = 2

    def recognises(self, raw: Any) -> bool:
        """Lines with a `type` of Codex and a `payload`; the oldest have `role`, `content` and
        `timestamp` themselves, with the `model` a person spoke to; single files hold `session`
        and `items`."""
        if not isinstance(raw, dict):
            return False
        if isinstance(raw.get("session"), dict) and isinstance(raw.get("items"), list):
            return any("role" in item for item in dicts_in(raw["items"]))
        lines = dicts_in(raw.get(LINES_KEY))
        if any(_is_rollout(line) for line in lines):
            return True
        return any(_is_bare(line) for line in lines) and not any(_foreign(each) for each in lines)

    def identify(self, raw: Raw) -> str:
        """The session's id. A fork repeats its parent's lines after its own first one."""
        lines = list(_lines(raw))
        for line in lines:
            meta = dict_in(line.get("payload")) if line.get("type") == "session_meta" else line
            session = text_in(meta.get("id"))
            if session and ("role" not in line and line.get("type") in (None, "session_meta")):
                return session
        if not lines:
            return ""
        first = lines[0]
        return f"first:{digest_id(str(first.get('timestamp')), str(first))}"

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The session has no lines.")
        news: Counter[str] = Counter()
        news_of_lines(list_in(raw.get(UNREAD_KEY)), news)
        news_of_lines(
            [each for each in list_in(raw.get(LINES_KEY)) if not isinstance(each, dict)], news
        )
        session = Session(news)
        said: list[Said] = []
        for place, line in enumerate(_lines(raw)):
            session.note(line)
            said += said_in(line, place, session.turn, news)
        thread = in_a_line(session.drafts(said))
        created_at, updated_at = thread.times
        return ParsedConversation(
            platform=Platform.CODEX,
            external_id=external_id,
            title=text_in(raw.get(TITLE_KEY)) or session.title or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=session.started_at or created_at,
            updated_at=updated_at,
            model=session.model,
            project=session.folder,
            assistant_name="Codex",
            news=dict(news),
            extra=session.extra,
        )


CODEX = CodexImporter()


def _lines(raw: Raw) -> Iterable[dict[str, Any]]:
    lines = dicts_in(raw.get(LINES_KEY))
    if lines:
        return lines
    session = dict_in(raw.get("session"))
    return [session, *dicts_in(raw.get("items"))] if session else []


def _is_rollout(line: Raw) -> bool:
    kind = line.get("type")
    return isinstance(kind, str) and kind in _TYPES and isinstance(line.get("payload"), dict)


def _is_bare(line: Raw) -> bool:
    return line.get("role") == "user" and {"content", "timestamp", "model"} <= line.keys()


def _foreign(line: Raw) -> bool:
    return any(key in line for key in ("message", "uuid", "mes", "sessionId"))
