"""A Codex session as a whole: what it is about, and which statements repeat others."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from backread.domain import MessageKind, Role
from ingest.importers.base import Raw, dict_in, text_in, time_in
from ingest.importers.codex_items import EVENT, ITEM, RESPONSE, Said
from ingest.importers.drafts import Draft

_COPYING = timedelta(seconds=1)  # in which a fork writes down what its parent said


class Session:
    def __init__(self, news: Counter[str]) -> None:
        self._news = news
        self._own_id = ""
        self.turn = ""
        self.title = ""
        self.model = ""
        self.folder = ""
        self.started_at: datetime | None = None
        self._begun_at: datetime | None = None  # by the clock of the lines
        self.extra: dict[str, Any] = {}

    def note(self, line: Raw) -> None:
        """Takes in what a line tells about the session, before what is said in it."""
        payload = dict_in(line.get("payload"))
        kind = line.get("type")
        if kind == "session_meta":
            self._begun_at = self._begun_at or time_in(line.get("timestamp"))
            self._meta(payload)
        elif kind == "turn_context":
            self.model = text_in(payload.get("model")) or self.model
            self.folder = self.folder or text_in(payload.get("cwd"))
            self.turn = text_in(payload.get("turn_id")) or self.turn
        elif kind == "event_msg":
            self.turn = text_in(payload.get("turn_id")) or self.turn
            if payload.get("type") == "thread_name_updated":
                self.title = text_in(payload.get("thread_name")) or self.title
        elif "role" in line:
            self.model = text_in(line.get("model")) or self.model
        elif "instructions" in line or "id" in line:
            self.started_at = self.started_at or time_in(line.get("timestamp"))

    def _meta(self, meta: Raw) -> None:
        if self._own_id:
            if text_in(meta.get("id")) != self._own_id:
                self.extra.setdefault("forked_from", text_in(meta.get("id")))
            return
        self._own_id = text_in(meta.get("id")) or "-"
        self.started_at = time_in(meta.get("timestamp"))
        self.folder = text_in(meta.get("cwd"))
        branch = text_in(dict_in(meta.get("git")).get("branch"))
        version = text_in(meta.get("cli_version"))
        self.extra |= {
            key: value for key, value in (("version", version), ("git_branch", branch)) if value
        }

    def drafts(self, said: Sequence[Said]) -> Iterator[Draft]:
        """The messages in order, each once. Calls and reasoning between two messages come as one
        message of the assistant's that is no dialogue."""
        work: Draft | None = None
        callers: dict[str, Draft] = {}
        ready: list[Draft] = []
        has_reasoning = any(each.who == "reasoning" and each.where == RESPONSE for each in said)
        said = list(_without_copies(said))
        # A subagent's own task may come in the same moment as the copies: it is the last of them.
        own = next((each for each in reversed(said) if each.who == "user" and each.text), None)
        for each in said:
            if each.who in ("reasoning", "call", "output"):
                if each.who == "reasoning" and each.where == EVENT and has_reasoning:
                    continue
                if work is None:
                    work = Draft(each.external_id, Role.ASSISTANT, created_at=each.at)
                    work.model = self.model
                    ready.append(work)
                _add_work(each, work, callers)
                continue
            work = None
            message = self._message(each)
            if self._is_repeated(each, is_last=each is own):
                message.kind = MessageKind.HIDDEN
            ready.append(message)
        yield from (draft for draft in ready if not draft.is_empty)

    def _message(self, said: Said) -> Draft:
        role = {"user": Role.USER, "assistant": Role.ASSISTANT}.get(said.who, Role.SYSTEM)
        draft = Draft(said.external_id, role, texts=[said.text], created_at=said.at)
        draft.attachments, draft.asides = list(said.attachments), list(said.injected)
        draft.model = self.model if role is Role.ASSISTANT else ""
        return draft

    def _is_repeated(self, said: Said, *, is_last: bool) -> bool:
        """Whether a fork has it from its parent, whose session has it as well: it was said
        before the fork began. Some versions write what they copy with the fork's own time, all
        within a moment; they are compared by the clock of the lines, whose zone may be missing."""
        if "forked_from" not in self.extra or said.at is None or self._begun_at is None:
            return False
        return said.at < self._begun_at + (timedelta(0) if is_last else _COPYING)


def _add_work(said: Said, work: Draft, callers: dict[str, Draft]) -> None:
    if said.who == "reasoning":
        work.aside("reasoning", said.text)
    elif said.who == "call":
        work.aside("tool_call", said.text, said.name)
        if said.call_id:
            callers[said.call_id] = work
    else:
        callers.get(said.call_id, work).aside("tool_result", said.text)


def _without_copies(said: Sequence[Said]) -> Iterator[Said]:
    users = _user_statements(said)
    answers = Counter(_key(each) for each in said if _is(each, "assistant", RESPONSE))
    items = Counter(_key(each) for each in said if _is(each, "assistant", ITEM))
    for each in said:
        if each.who == "user":
            if id(each) in users or (each.injected and not each.text):
                yield each
        elif each.who == "assistant" and each.where != RESPONSE:
            # Each copy is matched with one original of the same turn, and only then dropped.
            key = _key(each)
            if answers[key] > 0:
                answers[key] -= each.where == ITEM or items[key] == 0
            elif each.where == ITEM or items[key] == 0:
                yield each
        else:
            yield each


def _is(said: Said, who: str, where: str) -> bool:
    return said.who == who and said.where == where


def _key(said: Said) -> tuple[str, str]:
    return said.turn, said.text.strip()


def _user_statements(said: Sequence[Said]) -> set[int]:
    """The user's statements to keep: completed items if the session has any, else events, else
    what was sent to the model. A session that was carried on by a newer version keeps the older
    kind for the turns before."""
    spoken = [each for each in said if each.who == "user" and (each.text or each.attachments)]
    items = [each for each in spoken if each.where == ITEM]
    events = [each for each in spoken if each.where == EVENT]
    if items:
        turns = {each.turn for each in items}
        first = spoken.index(items[0])
        earlier = [
            each
            for place, each in enumerate(spoken)
            if each.where == EVENT and place < first and (each.turn not in turns or not each.turn)
        ]
        return {id(each) for each in (*earlier, *items)}
    return {id(each) for each in events or spoken}
