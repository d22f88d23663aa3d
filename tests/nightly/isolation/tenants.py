"""Accounts with something of every kind, each text of which holds two words that only this
account has: a `handle` that the others may send, and a `secret` that no request ever holds. So a
secret in an answer to somebody else is a leak, however the request came to it.
"""

import base64
import io
import secrets
import tempfile
import zipfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from starlette.testclient import TestClient

from api.accounts.personal_tokens import make_token
from api.accounts.sessions import cookie_name, create_session, use_session
from backread.domain import Principal, Scope
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store import models
from backread.store.base import Base, utcnow
from ingest import tasks
from ingest.documents.keeping import keep_body
from recall.agents.updating import read_all_sessions
from recall.exporting import export_conversation
from recall.folders.access import FolderAccess
from recall.folders.catalogue import create_folder
from recall.folders.keys import make_key
from recall.folders.records import create_record, update_record
from recall.memories import create_bucket, delete_bucket, forget_memories, store_memory
from recall.notes.writing import delete_note, write_note
from recall.overview.updating import portray
from tests.exports import chatgpt_node, chatgpt_tree, claude, claude_message, zip_bytes
from tests.recall.agents.sessions import done, said, session_file

__all__ = ["tasks"]  # importing the module registers the jobs

LATER = datetime(2099, 1, 1, tzinfo=UTC)
# Rows that nobody can name, and that last for a moment of signing in or of work.
NOT_SEEDED = {
    "authenticator_apps",
    "event_streams",
    "index_removals",
    "oauth_consents",
    "recovery_codes",
    "sign_in_challenges",
    "tombstones",
}


@dataclass
class Tenant:
    """One account and its ways in. `ids` by table and column, `cursors` as its lists gave them."""

    account_id: str
    handle: str
    secret: str
    cookie: str
    csrf: str
    token: str
    folder_key: str
    ids: dict[str, list[str]] = field(default_factory=dict)
    cursors: list[str] = field(default_factory=list)

    @property
    def principal(self) -> Principal:
        return Principal(self.account_id, scopes=frozenset(Scope))

    @property
    def texts(self) -> list[str]:
        """What it is called by: words to search for, paths, names."""
        handle = self.handle
        return [handle, f"{handle}/plan.md", f"{handle}-loom", f"#{handle}", f"{handle} kiln"]


def settle(browser: TestClient, kernel: Kernel, number: int) -> Tenant:
    """A new account with a little of everything, as people and programs would have brought it."""
    tenant = _account(kernel, number)
    words = f"{tenant.handle} {tenant.secret}"
    _import(browser, tenant, words)
    run_pending(kernel)
    principal = tenant.principal
    _memories(kernel, principal, words)
    keep_body(kernel, principal, name=f"{tenant.handle}.md", body=_document(words))
    keep_body(
        kernel,
        principal,
        name=f"{tenant.handle}-2.md",
        body=_document(words + " again"),
        bucket_name=f"{words} shelf",
    )
    for name in ("plan", "other"):
        for text in ("first", "second"):
            write_note(
                kernel,
                principal,
                f"{tenant.handle}/{name}.md",
                f"# {words}\n\nThe {words} {text} #{tenant.handle}",
                {"title": words},
            )
    write_note(kernel, principal, f"{tenant.handle}/gone.md", f"Gone {words}")
    delete_note(kernel, principal, f"{tenant.handle}/gone.md")
    tenant.folder_key = _folder(kernel, principal, tenant, words)
    run_pending(kernel)
    keep_body(kernel, principal, name=f"{tenant.handle}.md", body=_document(f"Newer {words}"))
    read_all_sessions(kernel, tenant.account_id)
    run_pending(kernel)
    portray(kernel, tenant.account_id)
    _by_hand(kernel, tenant, words)
    tenant.ids = ids_of(kernel, tenant.account_id)
    for used in ("web_sessions", "personal_tokens"):
        # The first is what its requests are made with; the second may be ended.
        tenant.ids[used] = sorted(tenant.ids[used])[1:]
    return tenant


def _account(kernel: Kernel, number: int) -> Tenant:
    mark = secrets.token_hex(3)
    handle, secret = f"hq{number}{mark}handle", f"zq{number}{mark}secret"
    account = models.Account(
        email=f"{secret}@example.org",
        password_hash="unused",
        display_name=f"Member {number}",
        role="member",
    )
    with kernel.store.write() as session:
        session.add(account)
        session.flush()
        cookie = create_session(session, account, f"Browser {secret}")
        token = make_token(session, account.id, name=f"Script {secret}", scopes=[*Scope], days=None)
        create_session(session, account, f"Phone {secret}")
        make_token(session, account.id, name=f"Spare {secret}", scopes=[*Scope], days=None)
    somebody = use_session(kernel, cookie)
    assert somebody is not None
    header = f"{cookie_name(kernel.settings)}={cookie}"
    return Tenant(account.id, handle, secret, header, somebody.csrf_token, token, "")


def _document(words: str) -> bytes:
    paragraphs = [f"The {words} warranty, part {number}, lasts." for number in range(30)]
    return (f"# {words}\n\n" + "\n\n".join(paragraphs)).encode()


def _import(browser: TestClient, tenant: Tenant, words: str) -> None:
    """Chats with branches, artifacts, memories and keys in them, a project, an agent's session."""
    with tempfile.TemporaryDirectory() as folder:
        session = session_file(
            Path(folder),
            f"s-{tenant.handle}",
            f"/home/x/{tenant.handle}-loom",
            0,
            said(f"The `Signer` of {words} fails. Always run the {words} tests first."),
            done(
                f"Let's use `jose` instead of jsonwebtoken for {words}.",
                ("Read", {"file_path": f"/home/x/{tenant.handle}-loom/{words}/signer.ts"}),
                ("Edit", {"file_path": "/home/x/a.ts", "old_string": "x", "new_string": words}),
            ),
        ).read_bytes()
    answer = browser.post(
        "/api/v1/imports",
        files=[
            ("files", (f"{tenant.secret}.zip", zip_bytes(_members(tenant, words)))),
            ("files", (f"{tenant.secret}.jsonl", session)),
        ],
        headers=page_headers(tenant) | {"Accept": "application/json"},
    )
    assert answer.status_code == 202, answer.text
    name = base64.b64encode(f"{words}.zip".encode()).decode()
    begun = browser.post(
        "/api/v1/uploads",
        headers=page_headers(tenant)
        | {
            "Tus-Resumable": "1.0.0",
            "Upload-Length": "10",
            "Upload-Metadata": f"filename {name}",
            "Accept": "application/json",
        },
    )
    assert begun.status_code == 201, begun.text


def _members(tenant: Tenant, words: str) -> dict[str, Any]:
    handle = tenant.handle
    chats = [
        chatgpt_tree(
            f"{handle}-glazes-{number}",
            [
                chatgpt_node("q", None, "user", f"Remember {words} {number}, please."),
                chatgpt_node("b", "q", "assistant", f"Fires {words} at {number}.", recipient="bio"),
                chatgpt_node("a", "b", "assistant", f"The {words} answer.\n\n" + _code(words)),
                chatgpt_node("a2", "b", "assistant", f"Another {words} answer."),
            ],
            title=f"{words} glazes {number}",
        )
        for number in range(3)
    ]
    artifact = (
        f'<antArtifact identifier="{handle}" type="text/markdown" title="{words}">'
        f"# {words}</antArtifact>"
    )
    written = claude(
        f"{handle}-kiln",
        [
            claude_message("m1", "human", f"Write of {words}."),
            claude_message("m2", "assistant", f"Here. {artifact}"),
        ],
        name=f"{words} kiln",
    )
    project = {
        "uuid": f"{handle}-project",
        "name": f"{handle} kiln",
        "description": words,
        "prompt_template": f"Be {words}.",
        "updated_at": "2026-03-01T00:00:00Z",
        "docs": [
            {
                "uuid": f"{handle}-doc",
                "filename": f"{words}.md",
                "content": f"# Pots\n\n{words}",
                "created_at": "2026-02-01T00:00:00Z",
            }
        ],
    }
    return {
        "chatgpt/conversations.json": chats,
        "claude/conversations.json": [written],
        "claude/projects.json": [project],
    }


def _code(words: str) -> str:
    return "```python\n" + "\n".join(f"print('{words}', {n})" for n in range(20)) + "\n```"


def _memories(kernel: Kernel, principal: Principal, words: str) -> None:
    bucket = create_bucket(kernel, principal, f"{words} bucket").bucket_id
    kept = [
        store_memory(kernel, principal, f"The {words} fact {number}.", bucket_id=where).memory_id
        for number in range(4)
        for where in (None, bucket)
    ]
    store_memory(kernel, principal, f"The {words} new fact.", supersedes=kept[0])
    forget_memories(kernel, principal, kept[-1:])
    lost = create_bucket(kernel, principal, f"{words} lost").bucket_id
    store_memory(kernel, principal, f"The {words} lost fact.", bucket_id=lost)
    delete_bucket(kernel, principal, lost)


def _folder(kernel: Kernel, principal: Principal, tenant: Tenant, words: str) -> str:
    with kernel.store.write() as session:
        folder = create_folder(
            session,
            principal,
            f"{words} folder",
            generate_embeddings=True,
            vector_description=words,
        )
        _, key = make_key(session, principal, folder.id, name=f"{words} key")
        access = FolderAccess(principal.account_id, folder.id, writer=words)
    for number in range(2):
        record = create_record(
            kernel,
            access,
            f"{tenant.handle} {words} {number}",
            f"# {words}\n\nAda likes {words}.",
            metadata={"mark": words},
        )
        update_record(kernel, access, record.id, content=f"And {words}.")
    return key


def _by_hand(kernel: Kernel, tenant: Tenant, words: str) -> None:
    """What needs a language model, another device, or time to pass."""
    account_id, now = tenant.account_id, utcnow()
    with kernel.store.write() as session:
        chats = list(
            session.scalars(
                sa.select(models.Conversation.id).where(
                    models.Conversation.account_id == account_id
                )
            )
        )
        client = models.OAuthClient(
            id=f"client-{tenant.handle}", fingerprint=tenant.handle, name=f"Client {words}"
        )
        session.add(client)
        session.flush()
        session.add_all(
            [
                models.OAuthGrant(
                    account_id=account_id,
                    client_id=client.id,
                    scopes=[Scope.MEMORY_READ.value],
                    resource=kernel.settings.origin,
                ),
                models.Passkey(
                    account_id=account_id,
                    credential_hash=tenant.handle,
                    credential_id=tenant.secret.encode(),
                    public_key=b"x",
                    name=words,
                ),
                models.LanguageBudget(account_id=account_id, day_tokens=4_711),
                models.LanguageCall(
                    account_id=account_id,
                    conversation_id=chats[0],
                    purpose=f"p-{tenant.secret}",
                    model=tenant.secret,
                    day=now.date().isoformat(),
                    tokens_in=1,
                    tokens_out=1,
                ),
                models.SummaryPlan(
                    account_id=account_id,
                    model=tenant.secret,
                    maker=tenant.secret,
                    offered_until=now,
                    why=words,
                ),
                models.TeamItem(
                    team_id=kernel.settings.team_id,
                    account_id=account_id,
                    text=f"Shared by {tenant.handle}",
                    text_hash=tenant.handle,
                ),
                models.Job(
                    account_id=account_id,
                    name="ingest.embed_passages",
                    state="failed",
                    error=f"Failed on {words}",
                    finished_at=now,
                ),
            ]
        )
        for chat in chats:
            for kind in (models.StoredSummary, models.SummaryPart):
                session.merge(_summary(kind, account_id, chat, words, now))
    for chat in chats[:2]:
        export_conversation(kernel, tenant.principal, chat)


def _summary(kind: type[Base], account_id: str, chat: str, words: str, now: datetime) -> Base:
    values: dict[str, Any] = {
        "account_id": account_id,
        "conversation_id": chat,
        "input_hash": "x",
        "sentences": [{"text": f"They spoke of {words}.", "message_ids": []}],
    }
    if kind is models.StoredSummary:
        values |= {
            "state": "made",
            "made_by": words[:200],
            "maker": "by hand",
            "input_changed_at": now - timedelta(days=1),
        }
    return kind(**values)


def page_headers(tenant: Tenant) -> dict[str, str]:
    """Of a browser in which the account is signed in."""
    return {"Cookie": tenant.cookie, "X-CSRF-Token": tenant.csrf, "Accept": "text/html"}


def owned_tables() -> list[sa.Table]:
    """Those whose rows belong to an account."""
    return [table for table in Base.metadata.sorted_tables if "account_id" in table.columns]


def ids_of(kernel: Kernel, account_id: str) -> dict[str, list[str]]:
    """All values by which rows of an account are named, by table."""
    found: dict[str, list[str]] = {}
    with kernel.store.read() as session:
        for table in owned_tables():
            column = table.columns.get("id")
            if column is None:
                column = next(iter(table.primary_key.columns))
            query = sa.select(column).where(table.columns["account_id"] == account_id)
            values = [str(value) for value in session.scalars(query)]
            if values and column.name != "account_id":
                found[table.name] = values
    found["accounts"] = [account_id]
    return found


def rows_of(kernel: Kernel, account_id: str) -> dict[str, int]:
    """How many rows an account has, by table; 0 too."""
    with kernel.store.read() as session:
        return {
            table.name: session.scalar(
                sa.select(sa.func.count())
                .select_from(table)
                .where(table.columns["account_id"] == account_id)
            )
            or 0
            for table in owned_tables()
        }


# Kept up by the background work of the server, whoever asks for what.
_MOVING = {"jobs", "web_sessions", "personal_tokens", "folder_keys", "export_links"}


def belongings(kernel: Kernel, account_id: str) -> dict[str, str]:
    """Every row of an account as text, to see whether somebody else has changed any."""
    found: dict[str, str] = {}
    with kernel.store.read() as session:
        for table in owned_tables():
            order = list(table.primary_key.columns)
            query = sa.select(table).where(table.columns["account_id"] == account_id)
            rows = session.execute(query.order_by(*order)).all()
            if table.name in _MOVING:
                found[table.name] = repr([row[0] for row in rows])
            else:
                found[table.name] = repr(rows)
    return found


def in_archive(body: bytes) -> bytes:
    """A downloaded archive's members in one, for a look inside; other bytes as they are."""
    if not body.startswith(b"PK"):
        return body
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return b"\n".join(archive.read(name) for name in archive.namelist())
