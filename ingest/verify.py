"""Checks that what is stored of an account holds together: the promise that nothing is lost,
as something that can be run."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import zstandard

from backread.domain import MessageKind
from backread.identity import content_hash
from backread.kernel import Kernel
from backread.store.engine import ReadSession
from backread.store.models import Capture, Companion
from backread.store.repositories.captures import capture_ids, get_capture
from backread.store.repositories.companions import companions_of
from backread.store.repositories.conversations import (
    ConversationRow,
    MessageRow,
    StoredPassage,
    conversation_page,
    message_trees,
    passages_of_conversation,
)
from backread.store.repositories.imports import latest_imports
from backread.store.repositories.indexed import KINDS, IndexedKind, count_indexed
from backread.vectors.index import Collection
from ingest.beside import parts_beside
from ingest.candidates import decompress
from ingest.importers import IMPORTERS
from ingest.passages import cut

_PAGE = 100
_MOST_PROBLEMS = 1000
_MOST_IMPORTS = 10_000


@dataclass(slots=True)
class VerifyResult:
    """What was looked at, and each thing that is wrong, in words. Empty `problems`: all is well."""

    conversations: int = 0
    messages: int = 0
    passages: int = 0
    captures: int = 0
    imports: int = 0
    problems: list[str] = field(default_factory=list)

    def note(self, problem: str) -> None:
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(problem)


def verify_account(kernel: Kernel, account_id: str) -> VerifyResult:
    """Reads everything of the account and changes nothing. Raises Unavailable when the search
    index cannot be asked."""
    result = VerifyResult()
    _check_index(kernel, account_id, result)
    with kernel.store.read() as session:
        _check_imports(session, account_id, result)
        _check_captures(session, account_id, result)
        _check_companions(session, account_id, result)
        after = ""
        while page := conversation_page(session, account_id, after=after, limit=_PAGE):
            after = page[-1]["id"]
            trees = message_trees(session, account_id, [row["id"] for row in page])
            for row in page:
                _check_conversation(session, account_id, row, trees.get(row["id"], {}), result)
    return result


def _check_index(kernel: Kernel, account_id: str, result: VerifyResult) -> None:
    """More in the index than the database counts on is on its way out; less is not found."""
    words, dense = kernel.index.lexical_signature, kernel.dense_signature
    for kind in KINDS.values():
        expected = _expected(kernel, kind, account_id, words, dense)
        there = kernel.index.count(Collection(kind.collection), account_id)
        # Looked at again, because some may have been removed in between.
        if there < min(expected, _expected(kernel, kind, account_id, words, dense)):
            result.note(
                f"The search index has {there:,} of {expected:,} {kind.collection}: "
                "`backread reindex` puts the rest in."
            )


def _expected(kernel: Kernel, kind: IndexedKind, account_id: str, words: str, dense: str) -> int:
    with kernel.store.read() as session:
        return count_indexed(session, kind, account_id, words=words, dense=dense)


def _check_imports(session: ReadSession, account_id: str, result: VerifyResult) -> None:
    for row in latest_imports(session, account_id, limit=_MOST_IMPORTS):
        result.imports += 1
        if row.found != row.new + row.updated + row.unchanged + row.skipped + row.failed:
            result.note(f"The report of import {row.id} does not add up.")


def _check_captures(session: ReadSession, account_id: str, result: VerifyResult) -> None:
    for capture_id in capture_ids(session, account_id):
        capture = get_capture(session, account_id, capture_id)
        result.captures += 1
        if capture is None or not _is_sound(capture):
            result.note(f"Capture {capture_id} is not what came in: its content has changed.")
        if capture is not None:
            session.expunge(capture)


def _check_companions(session: ReadSession, account_id: str, result: VerifyResult) -> None:
    for companion in companions_of(session, account_id):
        if not _is_sound(companion):
            result.note(f"Companion {companion.id} is not what came in: its content has changed.")


def _is_sound(capture: Capture | Companion) -> bool:
    try:
        body = decompress(capture.body, capture.raw_bytes)
    except zstandard.ZstdError:
        return False
    return len(body) == capture.raw_bytes and content_hash(body) == capture.content_hash


def _check_conversation(
    session: ReadSession,
    account_id: str,
    row: ConversationRow,
    tree: Mapping[str, MessageRow],
    result: VerifyResult,
) -> None:
    result.conversations += 1
    result.messages += len(tree)
    messages = list(tree.values())
    passages = passages_of_conversation(session, account_id, row["id"])
    result.passages += len(passages)
    found = [*_tree_problems(row, messages), *_passage_problems(messages, passages)]
    capture = get_capture(session, account_id, row["capture_id"])
    if capture is None:
        found.append("its capture is missing")
    elif not _is_outdated(row, capture):
        # An older release left these out; they come when the conversation is read again.
        found += _beside_problems(messages, passages)
    session.expunge_all()
    for problem in found:
        result.note(f"Conversation {row['id']}: {problem}.")


def _tree_problems(row: ConversationRow, messages: Sequence[MessageRow]) -> Iterator[str]:
    ids = {message["id"] for message in messages}
    if [message["position"] for message in messages] != list(range(len(messages))):
        yield "the places of its messages have gaps or repeats"
    if any(message["parent_id"] and message["parent_id"] not in ids for message in messages):
        yield "a message hangs on one that is missing"
    line = [message for message in messages if message["on_shown_line"]]
    if (line[-1]["id"] if line else None) != row["current_message_id"]:
        yield "its shown line does not end at its current message"
    parents = [message["parent_id"] for message in line]
    if parents[1:] != [message["id"] for message in line[:-1]]:
        yield "its shown line is broken"
    if row["message_count"] != sum(m["kind"] == MessageKind.DIALOGUE for m in line):
        yield "its count of messages is wrong"


def _passage_problems(
    messages: Sequence[MessageRow], passages: Sequence[StoredPassage]
) -> Iterator[str]:
    if [passage.position for passage in passages] != list(range(len(passages))):
        yield "the places of its passages have gaps or repeats"
    by_id = {
        message["id"]: message
        for message in messages
        if message["on_shown_line"] and message["kind"] == MessageKind.DIALOGUE
    }
    for passage in passages:
        message = by_id.get(passage.message_id)
        if message is None:
            yield f"passage {passage.id} is of no message on the shown line"
        elif not passage.document and (
            message["text"][passage.start_offset : passage.end_offset] != passage.text
        ):
            yield f"passage {passage.id} does not have its message's words"
    with_words = {each["id"] for each in by_id.values() if each["text"].strip()}
    if with_words - {passage.message_id for passage in passages if not passage.document}:
        yield "a message has no passage, so it cannot be found"


def _is_outdated(row: ConversationRow, capture: Capture) -> bool:
    """Whether an older release has read it, whose parser knew less."""
    importer = IMPORTERS.get(capture.importer)
    return importer is not None and row["parser_version"] < importer.version


def _beside_problems(
    messages: Sequence[MessageRow], passages: Sequence[StoredPassage]
) -> Iterator[str]:
    beside = Counter(
        (part.message["id"], part.document, part.start, part.text)
        for part in parts_beside([each for each in messages if each["on_shown_line"]], cut)
    )
    if beside != Counter(
        (each.message_id, each.document, each.start_offset, each.text)
        for each in passages
        if each.document
    ):
        yield "its artifacts and attachments are not what its messages say"
