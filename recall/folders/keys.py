"""Access keys: what an agent sends to reach one folder.

A key has 256 random bits, is shown once and stored as a hash. The key alone says which folder a
call is for, so no argument of a call can name another.
"""

from datetime import timedelta

from backread.crypto import hash_token, new_token
from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded, NotFound
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import FolderKey
from backread.store.repositories import folders
from recall.folders.access import FolderAccess, get_folder
from recall.folders.texts import check_storable

PREFIX = "brf_"
MAX_NAME = 100
MAX_DAYS = 3650
MOST_KEYS = 100  # of one folder
_NOTE_USE_EVERY = timedelta(minutes=1)  # so that reading does not write to the database
_log = get_logger("recall.folders")


def make_key(
    session: WriteSession,
    principal: Principal,
    folder_id: str,
    *,
    name: str,
    is_read_only: bool = False,
    days: int | None = None,
) -> tuple[FolderKey, str]:
    """A new key for the folder and its text, which is never shown again. It ends after `days`;
    None: when it is revoked.

    Raises NotFound, InvalidInput for a name or life that cannot be, and LimitExceeded when the
    folder has too many keys.
    """
    folder = get_folder(session, principal.account_id, folder_id)
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME:
        raise InvalidInput(
            f"The key needs a name of at most {MAX_NAME} characters.",
            hint="Name the agent or the machine, so that you know what to revoke.",
        )
    check_storable("the name", name)
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise InvalidInput(f"A key can last from 1 to {MAX_DAYS} days.")
    if len(folders.keys_of(session, principal.account_id, folder.id)) >= MOST_KEYS:
        raise LimitExceeded(f"The folder has {MOST_KEYS} keys.", hint="Revoke those not in use.")
    key, now = new_token(PREFIX), utcnow()
    row = FolderKey(
        account_id=principal.account_id,
        folder_id=folder.id,
        key_hash=hash_token(key),
        name=name,
        is_read_only=is_read_only,
        created_at=now,
        expires_at=now + timedelta(days=days) if days is not None else None,
    )
    session.add(row)
    session.flush()
    _log.info("folder_key_made", account_id=principal.account_id, key_id=row.id)
    return row, key


def revoke_key(session: WriteSession, principal: Principal, folder_id: str, key_id: str) -> None:
    """Ends the key at once. Raises NotFound, also for another account's key."""
    if not folders.delete_key(session, principal.account_id, folder_id, key_id):
        raise NotFound("There is no such key.", hint="It was revoked already.")
    _log.info("folder_key_revoked", account_id=principal.account_id, key_id=key_id)


def use_key(kernel: Kernel, key: str) -> FolderAccess | None:
    """What the key opens; None when it is unknown, revoked or has ended."""
    if not key.startswith(PREFIX):
        return None
    now = utcnow()
    with kernel.store.read() as session:
        found = folders.find_live_key(session, hash_token(key), now=now)
    if found is None:
        return None
    row, folder = found
    if row.last_used_at is None or now - row.last_used_at > _NOTE_USE_EVERY:
        with kernel.store.write() as session:
            folders.mark_key_used(session, row.id, now=now)
    return FolderAccess(
        account_id=row.account_id,
        folder_id=folder.id,
        writer=row.name,
        key_id=row.id,
        is_read_only=row.is_read_only,
    )
