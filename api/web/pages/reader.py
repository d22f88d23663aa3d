"""The reader: one conversation, on the line that the platform shows or on another branch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from api.accounts.sessions import SignedIn
from api.artifacts import Made, artifacts_on_line, kind_of, made_by
from api.deps import ReadDep, SignedInDep
from api.web.lines import ConversationTree, Fork
from api.web.snippets import plain_line
from api.web.templating import render
from backread.artifacts import Artifact
from backread.domain import MessageKind
from backread.store.engine import ReadSession
from backread.store.models import Message
from backread.store.repositories.browsing import (
    find_conversation,
    message_tree,
    messages_by_id,
    user_questions,
)

PAGE_SIZE = 200
_OUTLINE_REACH = 2_000  # messages before and after the page
_ID = Query(max_length=26)

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class ReaderPage:
    """One page of a line. `number` counts from 1."""

    number: int
    total: int
    ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages that are shown as one thing: a single dialogue message, or a run of steps
    (tool calls, reasoning, hidden notes) that is folded away."""

    is_dialogue: bool
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A question of the user, with the address of its message."""

    text: str
    href: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class ArtifactCard:
    """A version of an artifact as it stands in the thread, or the artifact in the list above,
    whose `version` is 0."""

    title: str
    kind: str
    version: int
    versions: int
    href: str
    has_problem: bool


@router.get("/c/{conversation_id}")
def reader_page(
    request: Request,
    session: ReadDep,
    signed_in: SignedInDep,
    conversation_id: str,
    at: Annotated[str, _ID] = "",
    page: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> Response:
    """`at` chooses the branch that holds a message, and without `page` the page that does."""
    conversation = find_conversation(session, signed_in.principal, conversation_id)
    tree = ConversationTree(message_tree(session, signed_in.principal, conversation_id))
    line = tree.line(at or None)
    shown = page_of(line, at, page)
    branch = at if at and at in line and not tree.is_shown(at) else ""
    artifacts = artifacts_on_line(session, signed_in.principal, conversation_id, line)
    context: dict[str, Any] = {
        "signed_in": signed_in,
        "conversation": conversation,
        "stretches": _stretches(session, signed_in, conversation_id, shown.ids),
        "forks": _fork_links(tree.forks(line), conversation_id),
        "page": shown,
        "page_links": _page_links(conversation_id, shown, branch),
        "outline": _outline(session, signed_in, conversation_id, line, shown, branch),
        "is_branch": bool(branch),
        "artifact_cards": _artifact_cards(artifacts, conversation_id, branch),
        "at": at if at in shown.ids else "",
    }
    return render(request, "reader.html", context)


def page_of(line: Sequence[str], at: str, number: int) -> ReaderPage:
    """The page with that number; for 0 the one that holds `at`, else the first."""
    total = max(1, -(-len(line) // PAGE_SIZE))
    if not number:
        number = line.index(at) // PAGE_SIZE + 1 if at in line else 1
    number = min(number, total)
    return ReaderPage(number, total, line[(number - 1) * PAGE_SIZE : number * PAGE_SIZE])


def _stretches(
    session: ReadSession, signed_in: SignedIn, conversation_id: str, ids: Sequence[str]
) -> list[Stretch]:
    found = messages_by_id(session, signed_in.principal, conversation_id, ids)
    stretches: list[Stretch] = []
    steps: list[Message] = []
    for item in ids:
        message = found.get(item)
        if message is None:
            continue
        if message.kind != MessageKind.DIALOGUE:
            steps.append(message)
            continue
        if steps:
            stretches.append(Stretch(False, steps))
            steps = []
        stretches.append(Stretch(True, [message]))
    if steps:
        stretches.append(Stretch(False, steps))
    return stretches


def _fork_links(forks: Mapping[str, Fork], conversation_id: str) -> dict[str, dict[str, Any]]:
    def link(message_id: str | None) -> str:
        return message_address(conversation_id, message_id) if message_id else ""

    return {
        item: {
            "place": fork.place,
            "total": fork.total,
            "previous": link(fork.previous_id),
            "next": link(fork.next_id),
        }
        for item, fork in forks.items()
    }


def _artifact_cards(
    artifacts: Sequence[Artifact], conversation_id: str, branch: str
) -> dict[str, list[ArtifactCard]]:
    """By the message that made the version; under "" the latest of each."""
    made = {
        **made_by(artifacts),
        "": [Made(artifact, artifact.latest) for artifact in artifacts],
    }
    return {
        message_id: [
            ArtifactCard(
                title=each.artifact.title,
                kind=kind_of(each.artifact),
                version=each.version.number if message_id else 0,
                versions=len(each.artifact.versions),
                href=artifact_address(
                    conversation_id,
                    each.artifact.number,
                    version=each.version.number if message_id else 0,
                    at=branch,
                ),
                has_problem=bool(each.version.problem),
            )
            for each in group
        ]
        for message_id, group in made.items()
    }


def artifact_address(conversation_id: str, number: int, *, version: int = 0, at: str = "") -> str:
    """The page of an artifact; `version` 0 is the latest, `at` chooses the branch."""
    query = urlencode({key: value for key, value in (("version", version), ("at", at)) if value})
    return f"/c/{conversation_id}/artifacts/{number}" + (f"?{query}" if query else "")


def message_address(conversation_id: str, message_id: str) -> str:
    """Opens the message on whatever branch and page it is."""
    return f"/c/{conversation_id}?at={message_id}#m-{message_id}"


def _page_links(conversation_id: str, page: ReaderPage, branch: str) -> dict[str, str]:
    def link(number: int) -> str:
        query = {"page": str(number), **({"at": branch} if branch else {})}
        return f"/c/{conversation_id}?{urlencode(query)}"

    return {
        "previous": link(page.number - 1) if page.number > 1 else "",
        "next": link(page.number + 1) if page.number < page.total else "",
    }


def _outline(
    session: ReadSession,
    signed_in: SignedIn,
    conversation_id: str,
    line: Sequence[str],
    page: ReaderPage,
    branch: str,
) -> list[OutlineEntry]:
    """The user's questions on this line, in its order; of a very long one those around the page."""
    near = range(
        (page.number - 1) * PAGE_SIZE - _OUTLINE_REACH, page.number * PAGE_SIZE + _OUTLINE_REACH
    )
    texts = {
        question.message_id: plain_line(question.text)
        for question in user_questions(session, signed_in.principal, conversation_id)
    }
    here = set(page.ids)
    entries = []
    for index, item in enumerate(line):
        if index not in near or not texts.get(item):
            continue
        query = {"page": str(index // PAGE_SIZE + 1), **({"at": branch} if branch else {})}
        away = f"/c/{conversation_id}?{urlencode(query)}"
        href = f"#m-{item}" if item in here else f"{away}#m-{item}"
        entries.append(OutlineEntry(texts[item], href, item in here))
    return entries
