"""Deleting one conversation: asked first, done at once, and shown with its receipt."""

from fastapi import APIRouter, Request, Response

from api.deps import CsrfDep, KernelDep, ReadDep, SignedInDep
from api.web.templating import render
from backread.store.repositories.browsing import find_conversation
from ingest.deleting import delete_conversation

router = APIRouter(include_in_schema=False)


@router.get("/c/{conversation_id}/delete")
def ask(
    request: Request, session: ReadDep, signed_in: SignedInDep, conversation_id: str
) -> Response:
    """Nothing is deleted yet."""
    conversation = find_conversation(session, signed_in.principal, conversation_id)
    context = {"signed_in": signed_in, "conversation": conversation, "receipt": None}
    return render(request, "conversation_delete.html", context)


@router.post("/c/{conversation_id}/delete", dependencies=[CsrfDep])
def delete(
    request: Request, kernel: KernelDep, signed_in: SignedInDep, conversation_id: str
) -> Response:
    """For good: there is no way back, and no later import brings it."""
    principal = signed_in.principal
    with kernel.store.read() as session:
        conversation = find_conversation(session, principal, conversation_id)
    receipt = delete_conversation(kernel, principal, conversation_id)
    context = {"signed_in": signed_in, "conversation": conversation, "receipt": receipt}
    return render(request, "conversation_delete.html", context)
