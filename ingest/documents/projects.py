"""Documents of projects, which exports bring: their text is there, so it is only cut into passages,
and found beside those of uploaded documents."""

from typing import Final

from backread.indexing import enqueue_embedding
from backread.jobs import UPKEEP, JobContext, Queue, enqueue, job, one_of_many
from backread.kernel import Kernel
from backread.store.engine import WriteSession
from backread.store.models import Document
from backread.store.repositories.file_passages import (
    COLLECTION,
    PROJECTS_GROUP,
    accounts_with_unread_documents,
    count_documents_to_read,
    delete_document_passages,
    documents_to_read,
    forget_documents_read,
    note_document_read,
    store_passages,
)
from ingest.documents.pages import Page, Unit
from ingest.documents.passages import READER_VERSION, passages_of
from ingest.documents.readers.plain import marks_of

READ_DOCUMENTS: Final = "ingest.read_project_documents"
_DOCUMENTS_AT_A_TIME: Final = 20


def enqueue_documents(session: WriteSession, account_id: str) -> None:
    """Asks for the passages of documents that came or changed."""
    enqueue(session, READ_DOCUMENTS, account_id=account_id, dedupe_key=f"documents:{account_id}")


@job(READ_DOCUMENTS, queue=Queue.BACKGROUND)
def read_documents(context: JobContext) -> None:
    """Cuts what has no passages yet, or those of an older text. Repeatable. A document that cannot
    be cut has none until its text changes or another version reads it."""
    account_id = context.account_id
    assert account_id is not None
    done = 0
    while True:
        with context.kernel.store.write() as session:
            documents = documents_to_read(
                session, account_id, READER_VERSION, limit=_DOCUMENTS_AT_A_TIME
            )
            for document in documents:
                with (
                    one_of_many("cut_document", document.id, context) as attempt,
                    session.begin_nested(),
                ):
                    _read(session, document)
                if attempt.failed:
                    delete_document_passages(session, account_id, document.id)
                    note_document_read(session, document, READER_VERSION)
            done += len(documents)
            if not documents:
                if done:
                    enqueue_embedding(session, account_id, COLLECTION)
                return
        context.report(done, 0)


def _read(session: WriteSession, document: Document) -> None:
    delete_document_passages(session, document.account_id, document.id)
    page = Page(Unit.SECTION, 1, document.text, marks=tuple(marks_of(document.text)))
    store_passages(
        session,
        document.account_id,
        passages_of(document.name, [page]),
        group_name=PROJECTS_GROUP,
        occurred_at=document.updated_at or document.created_at or document.imported_at,
        document_id=document.id,
    )
    note_document_read(session, document, READER_VERSION)


def reread_documents(kernel: Kernel, account_id: str, *, every: bool = False) -> int:
    """Asks for the passages of documents that an older release has cut, or of all; returns how
    many."""
    with kernel.store.write() as session:
        if every:
            forget_documents_read(session, account_id)
        count = count_documents_to_read(session, account_id, READER_VERSION)
        if count:
            enqueue_documents(session, account_id)
    return count


def _read_all(kernel: Kernel) -> None:
    with kernel.store.read() as session:
        ids = accounts_with_unread_documents(session, READER_VERSION)
    for account_id in ids:
        with kernel.store.write() as session:
            enqueue_documents(session, account_id)


UPKEEP.append(_read_all)
