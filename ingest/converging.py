"""Makes one conversation of copies that came by different routes, when one of them has no ids.

Rows in, rows out. Guarantees, in whatever order the copies come: a message that two copies have
is one row; its public id never changes; the words of a copy with ids win over those of one
without; what one copy lacks is taken from the other; a grown copy adds only what is new.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backread.domain import MessageKind
from backread.identity import message_id
from backread.store.repositories.conversations import ConversationRow, MessageRow
from ingest.aligning import Match, Node, matches
from ingest.rows import is_weak, weak_id, words_of_id

Rows = Mapping[str, MessageRow]


@dataclass(frozen=True, slots=True)
class Converged:
    """A copy's rows and line, and the stored rows, all under the ids that they have from now on.

    `final` are the ids of rows whose content is settled: it no longer matters which copy is
    newer."""

    rows: dict[str, MessageRow]
    line: list[str]
    stored: dict[str, MessageRow]
    final: frozenset[str]


def is_involved(stored: Rows, rows: Rows) -> bool:
    """Whether one of both copies has messages that are known by their words alone."""
    return any(map(is_weak, stored)) or any(map(is_weak, rows))


def has_ids(rows: Rows) -> bool:
    """Whether a copy has the platform's own ids, and so is the better one of two."""
    return any(not is_weak(each) for each in rows)


def converge(stored: Rows, rows: Rows, line: Sequence[str]) -> Converged:
    """Matches the rows of a further copy with those that are stored."""
    taken_in = _WeakCopy(stored, rows).taken_in(line)
    return _with_better_ids(stored, taken_in)


class _WeakCopy:
    """Finds the messages of a copy that has no ids among the stored ones."""

    def __init__(self, stored: Rows, rows: Rows) -> None:
        self._stored = stored
        self._rows = rows
        weak = [each for each in rows if is_weak(each)]
        self._found = matches(
            _nodes(rows, weak), _nodes(stored, stored, _shown(stored)) if weak else ()
        )
        for each in weak:
            if rows[each]["kind"] != MessageKind.DIALOGUE and each in stored:
                self._found[each] = Match(each, each)
        self._times: Counter[str] = Counter()  # how often a name was tried, by its words
        self._public_ids = {row["id"] for row in stored.values()}
        self._names: dict[str, str] = {}  # of the copy's messages, from now on
        self._ids: dict[str, str | None] = {}  # under which they are parents, from now on

    def taken_in(self, line: Sequence[str]) -> Converged:
        self._name_all()
        below = self._end_below()
        result: dict[str, MessageRow] = {}
        for each, row in self._rows.items():
            match = self._found.get(each)
            if match is not None:
                result[match.first] = _blended(self._stored[match.first], row)
                continue
            if each not in self._names:
                continue
            parent = row["parent_id"]
            fresh = row.copy()
            fresh["external_id"] = self._names[each]
            fresh["parent_id"] = self._ids.get(parent, parent) if parent else None
            if is_weak(each):
                fresh["id"] = self._ids[row["id"]] or row["id"]
                fresh["parent_id"] = below.get(fresh["parent_id"], fresh["parent_id"])
            result[self._names[each]] = fresh
        names = [
            self._found[each].last if each in self._found else self._names[each]
            for each in line
            if each in self._found or each in self._names
        ]
        settled = frozenset(match.first for match in self._found.values())
        return Converged(result, names, dict(self._stored), settled)

    def _name_all(self) -> None:
        is_poorer = has_ids(self._stored)
        for each, row in self._rows.items():
            match = self._found.get(each)
            if match is not None:
                self._ids[row["id"]] = self._stored[match.last]["id"]
            elif is_poorer and is_weak(each) and row["kind"] != MessageKind.DIALOGUE:
                # The better copy tells by itself what was done beside the dialogue.
                parent = row["parent_id"]
                self._ids[row["id"]] = self._ids.get(parent, parent) if parent else None
            elif is_weak(each):
                self._names[each], self._ids[row["id"]] = self._new_id(each, row)
            else:
                self._names[each] = each

    def _new_id(self, weak: str, row: MessageRow) -> tuple[str, str]:
        """A name and a public id that no message has, nor had before it got a better name."""
        words = words_of_id(weak)
        while True:
            self._times[words] += 1
            name = weak_id(words, self._times[words])
            public_id = message_id(row["conversation_id"], name)
            if name not in self._stored and public_id not in self._public_ids:
                return name, public_id

    def _end_below(self) -> dict[str | None, str]:
        """Where something new after the last words hangs: below what the platform keeps there."""
        line = [row for row in self._stored.values() if row["on_shown_line"]]
        spoken = [row for row in line if row["kind"] == MessageKind.DIALOGUE]
        return {spoken[-1]["id"]: line[-1]["id"]} if spoken else {}


def _with_better_ids(stored: Rows, copy: Converged) -> Converged:
    """Stored messages without ids that the copy has ids for: they get them, and its content."""
    weak = [each for each in stored if is_weak(each) and each not in copy.rows]
    better = [each for each in copy.rows if not is_weak(each)]
    if not weak or not better:
        return copy
    known = _nodes(copy.rows, better, frozenset(copy.line))
    found = {
        old: match
        for old, match in matches(_nodes(stored, weak), known).items()
        if match.first not in stored
    }
    rows = {each: row.copy() for each, row in copy.rows.items()}
    ids: dict[str, str] = {}  # that the copy's rows have had until now -> from now on
    ends: dict[str, str] = {}  # of a joined answer that came apart -> its last part
    for old, match in found.items():
        ids[rows[match.first]["id"]] = stored[old]["id"]
        if match.first != match.last:
            ends[stored[old]["id"]] = rows[match.last]["id"]
    for each, row in rows.items():
        row["id"] = ids.get(row["id"], row["id"])
        row["parent_id"] = ids.get(row["parent_id"] or "", row["parent_id"])
        rows[each] = row
    kept: dict[str, MessageRow] = {}
    for each, row in stored.items():
        if each in found:
            first = found[each].first
            rows[first] = _filled(rows[first], row)
            kept[first] = row
        elif is_weak(each) and row["parent_id"] in ends:
            kept[each] = row | {"parent_id": ends[row["parent_id"]]}
        else:
            kept[each] = row
    final = copy.final | {match.first for match in found.values()}
    return Converged(rows, copy.line, kept, final)


def chosen_line(
    messages: Rows, old: Sequence[str], new: Sequence[str], *, prefers_old: bool
) -> list[str]:
    """Which line is shown: of two that go on from each other the longer one, of two that part
    the preferred one."""
    paths = [_path(messages, line[-1]) if line else [] for line in (old, new)]
    old_path, new_path = paths
    if not old_path or not new_path:
        return old_path or new_path
    if new_path[-1] in old_path:
        return old_path
    if old_path[-1] in new_path:
        return new_path
    return old_path if prefers_old else new_path


def conversation_of_both(better: ConversationRow, other: ConversationRow) -> ConversationRow:
    """The better one's row, with what it does not say taken from the other one."""
    times = [each for each in (better["updated_at"], other["updated_at"]) if each]
    return {
        **better,
        "title": better["title"] or other["title"],
        "created_at": better["created_at"] or other["created_at"],
        "updated_at": max(times, default=None),
        "url": better["url"] or other["url"],
        "model": better["model"] or other["model"],
        "project": better["project"] or other["project"],
        "assistant_name": better["assistant_name"] or other["assistant_name"],
        "is_starred": better["is_starred"] or other["is_starred"],
        "is_archived": better["is_archived"] or other["is_archived"],
        "extra": {**other["extra"], **better["extra"]},
    }


def _blended(stored: MessageRow, row: MessageRow) -> MessageRow:
    """A stored message after it was found in a copy without ids."""
    if is_weak(stored["external_id"]):
        by_words = (len(row["text"]), row["text"]) > (len(stored["text"]), stored["text"])
        if by_words:
            better = row.copy()
            for key in ("id", "external_id", "parent_id", "position", "on_shown_line"):
                better[key] = stored[key]
            return _filled(better, stored)
    return _filled(stored, row)


def _filled(better: MessageRow, other: MessageRow) -> MessageRow:
    """What the better copy of a message does not say is taken from the other one. Asides stay:
    a platform keeps reasoning and calls as messages of their own."""
    result = better.copy()
    result["created_at"] = better["created_at"] or other["created_at"]
    result["model"] = better["model"] or other["model"]
    if is_weak(better["external_id"]):
        result["asides"] = better["asides"] or other["asides"]
        result["attachments"] = better["attachments"] or other["attachments"]
        result["citations"] = better["citations"] or other["citations"]
    return result


def _shown(rows: Rows) -> frozenset[str]:
    return frozenset(each for each, row in rows.items() if row["on_shown_line"])


def _nodes(rows: Rows, wanted: Iterable[str], shown: frozenset[str] = frozenset()) -> list[Node]:
    names = {row["id"]: each for each, row in rows.items()}
    nodes = []
    for each in wanted:
        row = rows[each]
        parent = names.get(row["parent_id"]) if row["parent_id"] else None
        is_dialogue = row["kind"] == MessageKind.DIALOGUE
        moment = row["created_at"]
        nodes.append(
            Node(
                key=each,
                parent=parent,
                role=row["role"],
                is_dialogue=is_dialogue,
                text=row["text"],
                at=moment,
                is_shown=each in shown,
                has_id=not is_weak(each),
            )
        )
    return nodes


def _path(messages: Rows, leaf: str) -> list[str]:
    names = {row["id"]: each for each, row in messages.items()}
    path: list[str] = []
    seen: set[str] = set()
    current: str | None = leaf
    while current is not None and current not in seen:
        seen.add(current)
        path.append(current)
        parent = messages[current]["parent_id"]
        current = names.get(parent) if parent else None
    return path[::-1]
