"""Claude Code: session files, one JSON line an event, and single-file copies of them.

Lines are a tree by `parentUuid`; a rewind leaves the abandoned turns as siblings. One answer is
several lines with one `message.id`. Much that stands in `user` lines is not the person's: tool
results, expanded commands, reminders, summaries after compaction.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from backread.domain import MessageKind, ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in, time_in
from ingest.importers.claude_code_blocks import fill_assistant, fill_results, fill_user
from ingest.importers.drafts import (
    Draft,
    Thread,
    digest_id,
    in_a_tree,
    news_of_lines,
    shortened,
)
from ingest.importers.envelopes import LINES_KEY, UNREAD_KEY

_NODES = {"user", "assistant", "system", "attachment"}
_TASK = "Task"
_COMMAND = re.compile(r"<command-name>([^<>\n]{1,100})</command-name>")
_SILENT = {
    "summary",
    "last-prompt",
    "custom-title",
    "ai-title",
    "agent-name",
    "agent-color",
    "queue-operation",
    "progress",
    "file-history-snapshot",
    "mode",
    "permission-mode",
    "pr-link",
    "worktree-state",
}


class ClaudeCodeImporter:
    """Guarantees: parents before children; one id per answer; what a subagent did inside a
    session is kept as another branch, a subagent's own file as its own conversation."""

    slug = Platform.CLAUDE_CODE.value
    version = 2

    def recognises(self, raw: Any) -> bool:
        """Lines (or `loglines`) with a `message` and the fields that Claude Code writes."""
        if not isinstance(raw, dict):
            return False
        lines = _lines(raw)
        if any("payload" in line for line in lines):
            return False
        return any(_is_turn(line) for line in lines)

    def identify(self, raw: Raw) -> str:
        """The session's id; of a subagent's file the session's with the agent's."""
        turns = [line for line in _lines(raw) if _is_turn(line)]
        main = [line for line in turns if line.get("isSidechain") is not True]
        sessions = [text_in(line.get("sessionId")) for line in main or turns]
        session = next((each for each in reversed(sessions) if each), "")
        if turns and not main:
            agent = text_in(turns[0].get("agentId")) or text_in(turns[0].get("uuid"))
            return f"{session}/agent-{agent}" if agent else session
        return session or _made_up_id(turns)

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The session has neither an id nor a message.")
        news: Counter[str] = Counter()
        news_of_lines(list_in(raw.get(UNREAD_KEY)), news)
        session = _Session(external_id, news)
        for value in list_in(raw.get(LINES_KEY)) or list_in(raw.get("loglines")):
            session.read(value)
        thread = session.thread()
        created_at, updated_at = thread.times
        return ParsedConversation(
            platform=Platform.CLAUDE_CODE,
            external_id=external_id,
            title=session.title or thread.first_words or _task(thread) or session.command,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=created_at,
            updated_at=updated_at,
            model=thread.model,
            project=session.folder,
            assistant_name="Claude Code",
            news=dict(news),
            extra=session.extra,
        )


CLAUDE_CODE = ClaudeCodeImporter()


def _lines(raw: Raw) -> list[dict[str, Any]]:
    return dicts_in(raw.get(LINES_KEY)) or dicts_in(raw.get("loglines"))


def _is_turn(line: Raw) -> bool:
    message = line.get("message")
    if not isinstance(message, dict) or "parts" in message:
        return False
    if line.get("type") in ("user", "assistant"):
        return "content" in message
    return "type" not in line and "sessionId" in line and "role" in message


def _task(thread: Thread) -> str:
    """What a subagent was sent out for, as the title of its own file."""
    tasks = [message.text for message in thread.messages if message.author == _TASK]
    return shortened(tasks[0]) if tasks else ""


def _made_up_id(turns: Sequence[Raw]) -> str:
    """Copies without ids go by their first message, which stays as the session grows."""
    if not turns:
        return ""
    first = turns[0]
    content = dict_in(first.get("message")).get("content")
    return f"first:{digest_id(str(first.get('timestamp')), str(content))}"


class _Session:
    """The tree of one session as its lines are read in order."""

    def __init__(self, session_id: str, news: Counter[str]) -> None:
        self._is_agent = "/agent-" in session_id
        self._news = news
        self._drafts: dict[str, Draft] = {}
        self._places: dict[str, str] = {}  # uuid of a line -> the message it went into
        self._answers: dict[str, str] = {}  # id of an answer -> its message
        self._calls: dict[str, str] = {}  # id of a tool call -> the message that made it
        self._has_links = False
        self._side: set[str] = set()
        self._last = ""
        self._last_side = ""
        self._leaf = ""
        self._after_leaf: list[str] = []
        self._titles: dict[str, str] = {}
        self.folder = ""
        self.extra: dict[str, Any] = {}
        self.command = ""  # the first one that was typed, for sessions of commands alone

    @property
    def title(self) -> str:
        found = [self._titles.get(kind, "") for kind in ("custom-title", "ai-title", "summary")]
        return next((each for each in found if each), "")

    def read(self, value: Any) -> None:
        if not isinstance(value, dict):
            self._news["line:not an object"] += 1
            return
        kind = text_in(value.get("type")) or text_in(dict_in(value.get("message")).get("role"))
        self._note(kind, value)
        if kind in _NODES:
            self._node(kind, value)
        elif kind not in _SILENT:
            self._news[f"line:{kind or 'none'}"] += 1

    def thread(self) -> Thread:
        if not self._has_links:
            self._link_in_order()
        drafts = [draft for draft in self._drafts.values() if not draft.is_empty]
        self._skip_empty()
        leaf = self._leaf if self._leaf in self._drafts else ""
        if leaf and self._after_leaf:
            below = [each for each in self._after_leaf if self._is_below(each, leaf)]
            leaf = below[-1] if below else ""
        if leaf and self._drafts[leaf].is_empty:
            leaf = self._drafts[leaf].parent or ""
        return in_a_tree(drafts, leaf=leaf or None, side=frozenset(self._side))

    def _note(self, kind: str, line: Raw) -> None:
        if kind in ("custom-title", "ai-title", "summary"):
            keys = ("customTitle", "aiTitle", "title", "summary")
            title = next((text_in(line.get(key)) for key in keys if line.get(key)), "")
            self._titles[kind] = title.strip() or self._titles.get(kind, "")
        if kind in ("last-prompt", "summary"):
            place = self._places.get(text_in(line.get("leafUuid")))
            if place:
                self._leaf, self._after_leaf = place, []
        if line.get("isSidechain") is not True or self._is_agent:
            self.folder = self.folder or text_in(line.get("cwd"))
            for key, name in (("gitBranch", "git_branch"), ("version", "version")):
                if text_in(line.get(key)):
                    self.extra[name] = text_in(line.get(key))
            self._note_origin(kind, line)

    def _note_origin(self, kind: str, line: Raw) -> None:
        """Which session this one was forked from, where its work went, how it began."""
        origin = text_in(dict_in(line.get("forkedFrom")).get("sessionId"))
        if origin:
            self.extra["forked_from"] = origin
        if kind == "pr-link" and text_in(line.get("prUrl")):
            self.extra["pull_request"] = text_in(line.get("prUrl"))
        content = dict_in(line.get("message")).get("content")
        named = _COMMAND.search(content[:2000]) if isinstance(content, str) else None
        if named and not self.command:
            self.command = named[1].strip()

    def _node(self, kind: str, line: Raw) -> None:
        uuid = text_in(line.get("uuid")) or f"line:{len(self._places)}"
        if kind == "user" and self._take_results(uuid, line):
            return
        answer = text_in(dict_in(line.get("message")).get("id")) if kind == "assistant" else ""
        known = self._answers.get(answer) if answer else None
        if uuid in self._places and known is None:
            known = self._places[uuid]
            fresh = self._fresh(known, kind, line)
            fresh.parent = self._drafts[known].parent
            self._drafts[known] = fresh
            return
        if known is not None:
            if uuid not in self._places:
                fill_assistant(self._drafts[known], line, self._news)
            self._placed(uuid, known, line)
            return
        draft = self._fresh(uuid, kind, line)
        draft.parent = self._parent(uuid, line)
        self._drafts[uuid] = draft
        if answer:
            self._answers[answer] = uuid
        self._placed(uuid, uuid, line)

    def _fresh(self, external_id: str, kind: str, line: Raw) -> Draft:
        role = {"user": Role.USER, "assistant": Role.ASSISTANT}.get(kind, Role.SYSTEM)
        draft = Draft(external_id, role, created_at=time_in(line.get("timestamp")))
        if kind == "assistant":
            fill_assistant(draft, line, self._news)
        elif kind == "user":
            fill_user(draft, line, self._news)
            if line.get("isSidechain") is True and draft.kind is None:
                # The words are those of the agent that sent the subagent out.
                draft.role, draft.author, draft.kind = Role.TOOL, _TASK, MessageKind.TOOL
        else:
            draft.texts.append(text_in(line.get("content")))
            attachment = dict_in(line.get("attachment"))
            draft.aside("injected", "", text_in(attachment.get("type")))
        return draft

    def _take_results(self, uuid: str, line: Raw) -> bool:
        """A line with tool results alone belongs to the message that called the tools."""
        content = dict_in(line.get("message")).get("content")
        blocks = dicts_in(content)
        if not blocks or any(block.get("type") != "tool_result" for block in blocks):
            return False
        callers = [self._calls.get(text_in(block.get("tool_use_id"))) for block in blocks]
        caller = next((each for each in callers if each), None)
        parent = self._places.get(text_in(line.get("parentUuid")))
        place = caller or parent or self._last
        if not place or place not in self._drafts:
            return False
        if uuid not in self._places:
            fill_results(self._drafts[place], blocks)
        self._placed(uuid, place, line)
        return True

    def _placed(self, uuid: str, place: str, line: Raw) -> None:
        self._places[uuid] = place
        for block in dicts_in(dict_in(line.get("message")).get("content")):
            if block.get("type") == "tool_use":
                self._calls[text_in(block.get("id"))] = place
        if line.get("isSidechain") is True and not self._is_agent:
            self._side.add(place)
            self._last_side = place
            return
        self._last = place
        if self._leaf and place != self._leaf:
            self._after_leaf.append(place)

    def _parent(self, uuid: str, line: Raw) -> str | None:
        for key in ("parentUuid", "logicalParentUuid"):
            named = text_in(line.get(key))
            if named and named != uuid and named in self._places:
                self._has_links = True
                return self._places[named]
        is_side = line.get("isSidechain") is True and not self._is_agent
        goes_on = bool(text_in(line.get("parentUuid")) or line.get("isCompactSummary") is True)
        if line.get("subtype") == "compact_boundary" or goes_on:
            return (self._last_side if is_side else self._last) or None
        return None

    def _link_in_order(self) -> None:
        previous: str | None = None
        for external_id, draft in self._drafts.items():
            if external_id not in self._side:
                draft.parent, previous = previous, external_id

    def _skip_empty(self) -> None:
        for draft in self._drafts.values():
            seen: set[str] = set()
            while (
                draft.parent in self._drafts
                and self._drafts[draft.parent].is_empty
                and draft.parent not in seen
            ):
                seen.add(draft.parent)
                draft.parent = self._drafts[draft.parent].parent

    def _is_below(self, place: str, above: str) -> bool:
        current: str | None = place
        seen: set[str] = set()
        while current is not None and current not in seen:
            if current == above:
                return True
            seen.add(current)
            draft = self._drafts.get(current)
            current = draft.parent if draft else None
        return False
