"""One session of a coding agent, read: files, commands, concepts, conventions, decisions.

Pure. The result is a small dictionary that is stored; profiles add those of a project up.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from backread.domain import MessageKind, Role
from backread.text.secret_scan import secrets_in
from recall.agents.statements import conventions_in, decisions_in
from recall.agents.toolcalls import (
    Use,
    command_of,
    edited_file,
    file_uses,
    imports_in,
    programs_in,
)
from recall.query import QUESTION_WORDS

DIGEST_VERSION = 2

_MOST_CONCEPTS, _MOST_FILES, _MOST_COMMANDS, _MOST_STATEMENTS = 40, 300, 60, 30
_PASTED = 1500  # a longer message is mostly something pasted, not the person's own words
_CODE_SPAN = re.compile(r"`([^`\n]{2,60})`")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_IDENTIFIER = re.compile(
    r"\b(?:[A-Z][a-z0-9]+){2,}\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b[a-z]+(?:_[a-z0-9]+)+\b|"
    r"\b[A-Z]{2,6}\b"
)
_WORD = re.compile(r"[^\W\d_][\w-]{3,30}")
_FEWEST = 3  # times that a plain word has to be said to be a concept
_PLAIN = frozenset(
    """file files code function functions class method line lines test tests error errors change
    changes please make made need want should would could like just also then there here this that
    with from into when what which work works working done thing things look looks using used call
    output input result value values return returns line name names type types list set data user
    check update updated added adding create created remove fixed still now good okay sure sorry
    first second next last same other another each every some more most only very well back over
    after before because they them their have will been were does doing going let's read write
    current currently following based instead without within between through while where about
    note something everything nothing option options example default""".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """A message of the session's shown line, with its tool calls."""

    id: str
    role: str
    kind: str
    text: str
    asides: Sequence[Any] = ()


@dataclass(slots=True)
class SessionDigest:
    """What is kept of a session."""

    concepts: Counter[str] = field(default_factory=Counter)
    reads: Counter[str] = field(default_factory=Counter)
    writes: Counter[str] = field(default_factory=Counter)
    commands: Counter[str] = field(default_factory=Counter)
    conventions: list[tuple[str, str]] = field(default_factory=list)  # sentence, message id
    decisions: list[tuple[str, str]] = field(default_factory=list)
    # File, module that its code imports, message id; for the graph alone.
    imports: list[tuple[str, str, str]] = field(default_factory=list)
    # Where each file, concept and command came up first, for citations.
    first: dict[str, str] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "concepts": dict(self.concepts.most_common(_MOST_CONCEPTS)),
            "reads": dict(self.reads.most_common(_MOST_FILES)),
            "writes": dict(self.writes.most_common(_MOST_FILES)),
            "commands": dict(self.commands.most_common(_MOST_COMMANDS)),
            "conventions": [list(each) for each in self.conventions[:_MOST_STATEMENTS]],
            "decisions": [list(each) for each in self.decisions[:_MOST_STATEMENTS]],
        }


def digest(messages: Iterable[SessionMessage], folder: str) -> SessionDigest:
    """Reads a session once, message by message."""
    found = SessionDigest()
    words: Counter[str] = Counter()
    for message in messages:
        _tools(found, message, folder)
        if message.kind != MessageKind.DIALOGUE.value or not message.text:
            continue
        prose = _FENCED.sub(" ", message.text)
        _concepts(found, words, prose, message.id)
        is_own = message.role == Role.USER.value and len(message.text) <= _PASTED
        if is_own:
            found.conventions += _kept(conventions_in(prose), message.id)
        if is_own or message.role == Role.ASSISTANT.value:
            found.decisions += _kept(decisions_in(prose), message.id)
    named = {term.casefold() for term in found.concepts}
    for word, count in words.items():
        if count >= _FEWEST and word not in named:
            found.concepts[word] += count
    return found


def _kept(sentences: Iterable[str], message_id: str) -> list[tuple[str, str]]:
    """Without those that hold a key or a password."""
    return [(each, message_id) for each in sentences if not secrets_in([each])]


def _tools(found: SessionDigest, message: SessionMessage, folder: str) -> None:
    for aside in message.asides:
        if not isinstance(aside, dict) or aside.get("kind") not in ("tool_call", "artifact"):
            continue
        name, text = str(aside.get("name") or ""), str(aside.get("text") or "")
        is_edit = aside["kind"] == "artifact"  # its name is the file
        for use in edited_file(name, folder) if is_edit else file_uses(name, text, folder):
            counter = found.writes if use.use is Use.WRITE else found.reads
            counter[use.path] += 1
            found.first.setdefault(use.path, message.id)
            if use.use is Use.WRITE:
                modules = imports_in(name, text)
                found.imports += [(use.path, module, message.id) for module in modules]
        for program in () if is_edit else programs_in(command_of(name, text)):
            found.commands[program] += 1
            found.first.setdefault(program, message.id)


def _concepts(found: SessionDigest, words: Counter[str], prose: str, message_id: str) -> None:
    named: set[str] = set()
    for span in _CODE_SPAN.findall(prose):
        term = span.strip().rstrip("()")
        if re.fullmatch(r"@?[A-Za-z][\w./@-]{1,40}", term) and "/" not in term.strip("@"):
            named.add(term)
    named.update(term for term in _IDENTIFIER.findall(prose) if term.lower() not in QUESTION_WORDS)
    for term in named:
        found.concepts[term] += 1
        found.first.setdefault(term, message_id)
    for word in _WORD.findall(prose.lower()):
        if word not in QUESTION_WORDS and word not in _PLAIN:
            words[word] += 1
            found.first.setdefault(word, message_id)
