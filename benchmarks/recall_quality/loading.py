"""Puts a set into the product, by the same functions that an import uses."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, select

from backread.domain import (
    MessageKind,
    ParsedConversation,
    ParsedMessage,
    Platform,
    Principal,
    Role,
    Scope,
)
from backread.identity import conversation_id
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store.models import Account, Passage
from benchmarks.recall_quality.data import BenchSet, Document
from ingest.indexing import enqueue_embedding, index_lexical
from ingest.merge import Merged, first_copy
from ingest.storing import write_merged


@dataclass(frozen=True, slots=True)
class Loaded:
    """Accounts by `conv`, and the set's ids by the product's."""

    principals: dict[str, Principal]
    msg_of: dict[str, str]
    session_of: dict[str, str]
    passages: int


def load(kernel: Kernel, data: BenchSet) -> Loaded:
    """Stores, indexes and embeds everything. A folder that holds the set already is used as is."""
    sessions: dict[str, dict[str, list[Document]]] = defaultdict(lambda: defaultdict(list))
    for document in data.documents:
        sessions[document.conv][document.session].append(document)
    loaded = Loaded({}, {}, {}, 0)
    for conv, by_session in sessions.items():
        principal, is_new = _account(kernel, conv)
        loaded.principals[conv] = principal
        merged = [
            _conversation(principal.account_id, session, turns, loaded)
            for session, turns in by_session.items()
        ]
        if is_new:
            with kernel.store.write() as session_:
                write_merged(session_, principal.account_id, merged)
            index_lexical(kernel, principal.account_id)
            with kernel.store.write() as session_:
                enqueue_embedding(session_, principal.account_id)
    run_pending(kernel)
    with kernel.store.read() as session_:
        accounts = [principal.account_id for principal in loaded.principals.values()]
        passages = session_.scalar(
            select(func.count()).select_from(Passage).where(Passage.account_id.in_(accounts))
        )
    return Loaded(loaded.principals, loaded.msg_of, loaded.session_of, passages or 0)


def _account(kernel: Kernel, conv: str) -> tuple[Principal, bool]:
    email = f"{conv.lower()}@example.org"
    with kernel.store.write() as session:
        account = session.scalar(select(Account).where(Account.email == email))
        is_new = account is None
        if account is None:
            account = Account(email=email, password_hash="unused")
            session.add(account)
            session.flush()
        return Principal(account.id, scopes=frozenset(Scope)), is_new


def _conversation(account_id: str, session: str, turns: list[Document], loaded: Loaded) -> Merged:
    start = turns[0].at
    identifier = conversation_id(account_id, Platform.CHATGPT, session, start)
    loaded.session_of[identifier] = session
    messages = []
    for number, turn in enumerate(turns):
        is_assistant = turn.role == "assistant"
        messages.append(
            ParsedMessage(
                external_id=turn.msg,
                parent_external_id=turns[number - 1].msg if number else None,
                # People who chat with each other are all users to the product.
                role=Role.ASSISTANT if is_assistant else Role.USER,
                kind=MessageKind.DIALOGUE,
                text=turn.text,
                created_at=turn.at + timedelta(seconds=number) if turn.at else None,
                author="" if turn.role in {"user", "assistant"} else turn.role,
            )
        )
    parsed = ParsedConversation(
        platform=Platform.CHATGPT,
        external_id=session,
        title="",
        messages=messages,
        shown_line=[message.external_id for message in messages],
        created_at=start,
    )
    merged = first_copy(
        parsed,
        account_id=account_id,
        conversation_id=identifier,
        capture_id="",
        parser_version=1,
    )
    for external_id, row in merged.messages.items():
        loaded.msg_of[row["id"]] = external_id
    return merged
