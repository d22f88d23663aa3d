from typing import Annotated

from fastapi import APIRouter, Query

from api.artifacts import artifact_on_line, artifacts_on_line
from api.deps import HistoryReaderDep, ReadDep
from api.schemas.artifacts import ArtifactList, VersionOut, artifact_out, version_out
from api.web.lines import ConversationTree
from backread.store.repositories.browsing import find_conversation, message_tree

router = APIRouter(tags=["conversations"])

_At = Annotated[str, Query(max_length=26, description="Chooses the branch with this message.")]


@router.get("/conversations/{conversation_id}/artifacts")
def get_artifacts(
    session: ReadDep, principal: HistoryReaderDep, conversation_id: str, at: _At = ""
) -> ArtifactList:
    """The artifacts and canvases of one line of a conversation, with their versions."""
    find_conversation(session, principal, conversation_id)
    tree = ConversationTree(message_tree(session, principal, conversation_id))
    found = artifacts_on_line(session, principal, conversation_id, tree.line(at or None))
    return ArtifactList(items=[artifact_out(artifact) for artifact in found])


@router.get("/conversations/{conversation_id}/artifacts/{number}")
def get_artifact(
    session: ReadDep,
    principal: HistoryReaderDep,
    conversation_id: str,
    number: int,
    version: Annotated[int, Query(ge=0, le=1_000_000, description="0 is the latest.")] = 0,
    at: _At = "",
) -> VersionOut:
    """One version of an artifact, with its whole text."""
    find_conversation(session, principal, conversation_id)
    tree = ConversationTree(message_tree(session, principal, conversation_id))
    return version_out(
        artifact_on_line(
            session, principal, tree, conversation_id, at=at, number=number, version=version
        )
    )
