"""What is made of a record's content: the chunks that are found, and the propositions.

Small contents at once after they were written, all others and whatever a former version made by a
job. Pure text work happens outside of the transaction, and is stored only if the record is still
the revision that it was made of.
"""

from backread.indexing import enqueue_embedding
from backread.jobs import UPKEEP, JobContext, Queue, enqueue, job, one_of_many
from backread.kernel import Kernel
from backread.store.engine import WriteSession
from backread.store.models import Folder, FolderRecord
from backread.store.repositories import folders, record_chunks, records
from backread.store.repositories.indexed import RECORDS
from backread.store.repositories.record_chunks import NewChunk
from recall.folders.chunking import CHUNK_TOKENS, chunks
from recall.folders.propositions import PROPOSITIONS_VERSION, Proposition, propositions

RECORDS_COLLECTION = RECORDS.collection
DERIVE_RECORDS = "recall.derive_records"
# Names what made the derived rows; rows of another maker are made anew.
MADE_WITH = f"chunks.1-{CHUNK_TOKENS}.propositions.{PROPOSITIONS_VERSION}"

_AT_ONCE_CHARACTERS = 20_000
_BATCH = 100


def derive_later(session: WriteSession, record: FolderRecord) -> None:
    """Asks for the record's chunks and propositions; until then it has none."""
    record.derived_with = ""
    _enqueue(session, record.account_id)


def derive_folder_later(session: WriteSession, folder: Folder) -> None:
    """The same for all records of a folder."""
    record_chunks.forget_derived(session, folder.account_id, folder.id)
    _enqueue(session, folder.account_id)


def derive_now(kernel: Kernel, record: FolderRecord) -> None:
    """Makes them at once unless that takes long; what is not done here the job does."""
    if len(record.content) <= _AT_ONCE_CHARACTERS:
        _derive(kernel, record.account_id, record.id)


@job(DERIVE_RECORDS, queue=Queue.BACKGROUND)
def derive_records(context: JobContext) -> None:
    """Makes the chunks and propositions of the account's records that lack them."""
    kernel, account_id = context.kernel, context.account_id
    if account_id is None:
        raise ValueError(f"job {context.job_id} is for no account")
    done = 0
    while True:
        with kernel.store.read() as session:
            ids = record_chunks.underived_records(session, account_id, MADE_WITH, limit=_BATCH)
        total = done + len(ids)
        context.report(done, total)
        if not ids:
            return
        for record_id in ids:
            _derive(kernel, account_id, record_id, context)
            done += 1
            context.report(done, total)


def catch_up(kernel: Kernel) -> None:
    """Asks for what is missing and for what a former version of Backread made otherwise."""
    with kernel.store.read() as session:
        accounts = record_chunks.accounts_underived(session, MADE_WITH)
    for account_id in accounts:
        with kernel.store.write() as session:
            _enqueue(session, account_id)


def _enqueue(session: WriteSession, account_id: str) -> None:
    enqueue(
        session,
        DERIVE_RECORDS,
        account_id=account_id,
        dedupe_key=f"derive_records:{account_id}",
    )


def _derive(
    kernel: Kernel, account_id: str, record_id: str, context: JobContext | None = None
) -> None:
    """A record that cannot be cut or read has no chunks or no propositions until it is written
    again or another version reads it."""
    with kernel.store.read() as session:
        found = record_chunks.record_with_folder(session, account_id, record_id)
    if found is None:
        return
    record, folder = found
    parts: list[NewChunk] = []
    facts: list[Proposition] = []
    with one_of_many("cut_record", record_id, context):
        if folder.generate_embeddings:
            parts = chunks(
                record.name,
                record.content,
                folder_description=folder.vector_description,
                description=record.vector_description,
            )
    with one_of_many("read_record", record_id, context):
        facts = propositions(record.name, record.content)
    with kernel.store.write() as session:
        if not folders.lock_folder(session, account_id, folder.id):
            return
        current = records.find_record(session, account_id, folder.id, record_id, for_update=True)
        # Read behind the lock: whoever changes the folder then asks for its records anew.
        now = folders.find_folder(session, account_id, folder.id)
        if current is None or now is None or _basis(current, now) != _basis(record, folder):
            return  # written meanwhile: that write has asked for the job itself
        record_chunks.replace_chunks(session, current, parts)
        records.replace_propositions(
            session, record_id, [(each.text, each.start, each.end) for each in facts]
        )
        current.derived_with = MADE_WITH
        enqueue_embedding(session, account_id, RECORDS_COLLECTION)


def _basis(record: FolderRecord, folder: Folder) -> tuple[object, ...]:
    return record.revision, folder.generate_embeddings, folder.vector_description


UPKEEP.append(catch_up)
