"""Storing memories: nothing twice, nothing that was only recalled, and each with its source."""

from collections.abc import Sequence
from dataclasses import dataclass

from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded, NotFound
from backread.identity import statement_hash
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Bucket, Memory
from backread.store.repositories import memories as store
from backread.store.repositories.conversations import conversations_by_id
from backread.store.repositories.memories import Said
from backread.store.repositories.messages import has_message
from recall.categories.asking import enqueue_categorising
from recall.memories.buckets import find_bucket
from recall.memories.duplicates import Duplicates
from recall.memories.echoes import refuse_recalled
from recall.memories.indexing import index_memories
from recall.memories.results import StoredMemory
from recall.memories.superseding import supersede

MAX_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory was said. Empty when nobody told."""

    conversation_id: str = ""
    message_id: str = ""


def store_memory(
    kernel: Kernel,
    principal: Principal,
    text: str,
    *,
    bucket_id: int | str | None = None,
    supersedes: str = "",
    source: Source | None = None,
) -> StoredMemory:
    """Keeps a memory, in the default bucket unless one is given. What the bucket holds already,
    word for word but for case, punctuation and articles, is not stored again. `supersedes` names
    a memory that this one takes the place of; both stay, with their dates.

    Raises InvalidInput for an empty text and for one that a client copied from a recalled chat,
    LimitExceeded beyond 10,000 characters and NotFound for a bucket, memory, conversation or
    message that does not exist or is another account's.
    """
    text = checked_text(text)
    source = source or Source()
    refuse_recalled(kernel, principal, text, said_in=source.conversation_id)
    with kernel.store.write() as session:
        if supersedes:
            store.lock_lines(session, principal.account_id)
        check_source(session, principal, source)
        bucket = find_bucket(session, principal, bucket_id)
        ((result, memory),) = keep_memories(session, principal, bucket, [text], source=source)
        if supersedes:
            kept = memory or store.get_memory(session, principal.account_id, result.memory_id)
            former = supersede(session, principal, kept, supersedes)
            result = result.model_copy(update={"superseded": former.id})
    if memory is not None:
        index_memories(kernel, principal.account_id, [memory])
    return result


def checked_text(text: str) -> str:
    """The text of a memory, trimmed. Raises InvalidInput for an empty one, LimitExceeded beyond
    10,000 characters."""
    text = text.strip()
    if not text:
        raise InvalidInput("The memory is empty.", hint="Give the text to remember.")
    if len(text) > MAX_CHARACTERS:
        raise LimitExceeded(
            f"A memory may have {MAX_CHARACTERS} characters; this one has {len(text)}.",
            hint="Split it into several memories.",
        )
    return text


def check_source(session: ReadSession, principal: Principal, source: Source) -> None:
    """Raises NotFound unless the place exists in the account, InvalidInput for half a place."""
    if not source.conversation_id:
        if source.message_id:
            raise InvalidInput(
                "`messageId` needs the `conversationId` that it lies in.",
                hint="Give both, or neither.",
            )
        return
    account_id = principal.account_id
    if not conversations_by_id(session, account_id, [source.conversation_id]):
        raise NotFound(
            "There is no conversation with this conversationId.",
            hint="Leave it out, or take one from the sources of recall_chat_history.",
        )
    if source.message_id and not has_message(
        session, account_id, source.conversation_id, source.message_id
    ):
        raise NotFound(
            "There is no message with this messageId in the conversation.", hint="Leave it out."
        )


def keep_memories(
    session: WriteSession,
    principal: Principal,
    bucket: Bucket,
    texts: Sequence[str],
    *,
    source: Source | None = None,
) -> list[tuple[StoredMemory, Memory | None]]:
    """For each checked text what became of it, and the memory that was added, if one was. The
    caller hands those to `index_memories` after the commit."""
    known = Duplicates(session, principal.account_id, bucket.id, texts)
    place = source or Source()
    kept = [_keep(session, principal, bucket, text, known, place) for text in texts]
    if any(memory is not None for _, memory in kept):
        enqueue_categorising(session, principal.account_id, bucket.id)
    said_again = [result.memory_id for result, memory in kept if memory is None]
    if said_again:
        store.note_use(session, principal.account_id, said_again, now=utcnow())
    return kept


def _keep(
    session: WriteSession,
    principal: Principal,
    bucket: Bucket,
    text: str,
    known: Duplicates,
    source: Source,
) -> tuple[StoredMemory, Memory | None]:
    """Adds the text unless it is there. `known` is looked into and learns what was added."""
    found = known.of(text)
    if found is not None:
        return _not_stored(bucket, *found), None
    memory = store.add_memory(
        session,
        account_id=principal.account_id,
        bucket_id=bucket.id,
        text=text,
        text_hash=statement_hash(text),
        client_id=principal.client_id,
        conversation_id=source.conversation_id or None,
        message_id=source.message_id or None,
    )
    if memory is None:  # another process has stored the same meanwhile
        found = Duplicates(session, principal.account_id, bucket.id, [text]).of(text)
        assert found is not None
        return _not_stored(bucket, *found), None
    known.add(memory.id, text)
    stored = StoredMemory(
        memory_id=memory.id, bucket_id=bucket.id, bucket_name=bucket.name, stored=True
    )
    return stored, memory


def _not_stored(bucket: Bucket, said: Said, how: str) -> StoredMemory:
    return StoredMemory(
        memory_id=said.id,
        bucket_id=bucket.id,
        bucket_name=bucket.name,
        stored=False,
        duplicate=how,
        existing_text=said.text,
    )
