"""What goes into an export comes out of the archive: texts, order, roles, branches and times, for
random chats in every format."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from backread.domain import MessageKind, Principal
from backread.identity import new_id
from backread.kernel import Kernel
from backread.store.models import Message
from ingest.importers import IMPORTERS
from tests.conftest import new_principal
from tests.ingest.exports import import_files, write
from tests.ingest.roundtrip.base import Writer
from tests.ingest.roundtrip.chats import Chat, Said, Times, awkward_texts, chats
from tests.ingest.roundtrip.line_writers import LINE_WRITERS
from tests.ingest.roundtrip.page_writers import PAGE_WRITERS
from tests.ingest.roundtrip.tree_writers import TREE_WRITERS

WRITERS = [*TREE_WRITERS, *LINE_WRITERS, *PAGE_WRITERS]
_EXAMPLES = 20  # of each format; all of them together take well under a minute

# A message as everything that leads to it: roles, texts and times from the first one on.
Path_ = tuple[tuple[str, str, datetime | None], ...]


def test_every_importer_has_a_writer() -> None:
    assert {writer.slug for writer in WRITERS} == set(IMPORTERS)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.label)
@settings(
    max_examples=_EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_a_chat_comes_back_as_it_was(
    writer: Writer, kernel: Kernel, tmp_path: Path, data: st.DataObject
) -> None:
    chat = data.draw(
        chats(
            texts=awkward_texts().filter(writer.accepts),
            has_branches=writer.has_branches,
            has_leaf=writer.has_leaf,
        )
    )
    assume(len(chat.line) > 1 or not writer.needs_answer)
    owner = new_principal(kernel.store, f"{new_id()}@example.org")  # nothing of other chats
    report = import_files(kernel, owner, write(tmp_path / writer.name, writer.write(chat)))
    assert (report.state, report.platforms) == ("readable", {writer.slug: 1}), report.error
    assert (report.totals.new, report.news) == (1, {})
    stored = _stored(kernel, owner)
    assert Counter(_paths_of_stored(stored, writer)) == Counter(_paths(chat, writer))
    shown = [_said(message, writer) for message in stored if message.on_shown_line]
    assert shown == list(_path(chat.line, writer))


def _stored(kernel: Kernel, owner: Principal) -> list[Message]:
    query = (
        select(Message)
        .where(Message.account_id == owner.account_id)
        .where(Message.kind == MessageKind.DIALOGUE.value)
        .order_by(Message.position)
    )
    with kernel.store.read() as session:
        return list(session.scalars(query))


def _paths_of_stored(stored: list[Message], writer: Writer) -> Iterator[Path_]:
    paths: dict[str, Path_] = {}
    by_id = {message.id: message for message in stored}
    for message in stored:
        line: list[Message] = [message]
        while line[-1].parent_id is not None and line[-1].parent_id in by_id:
            line.append(by_id[line[-1].parent_id])
        paths[message.id] = tuple(_said(each, writer) for each in reversed(line))
    yield from paths.values()


def _said(message: Message, writer: Writer) -> tuple[str, str, datetime | None]:
    return message.role, writer.stored(message.text), message.created_at


def _paths(chat: Chat, writer: Writer) -> Iterator[Path_]:
    by_id = {said.id: said for said in chat.messages}
    for said in chat.messages if writer.has_branches else chat.line:
        line: list[Said] = [said]
        while (parent := line[-1].parent) is not None:
            line.append(by_id[parent])
        yield _path(line[::-1], writer)


def _path(line: list[Said], writer: Writer) -> Path_:
    return tuple(
        (said.role.value, writer.stored(said.text), _time(line, place, writer))
        for place, said in enumerate(line)
    )


def _time(line: list[Said], place: int, writer: Writer) -> datetime | None:
    if writer.times is Times.NONE:
        return None
    return line[place - place % 2].at if writer.times is Times.PAIR else line[place].at
