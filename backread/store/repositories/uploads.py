"""Files on their way in, until an import takes them over."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select

from backread.errors import NotFound
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, Upload


def insert_upload(session: WriteSession, upload: Upload) -> None:
    session.add(upload)
    session.flush()


def find_upload(session: ReadSession, account_id: str, upload_id: str) -> Upload:
    """Raises NotFound for an id that does not exist and for another account's alike."""
    upload = session.get(Upload, upload_id)
    if upload is None or upload.account_id != account_id:
        raise NotFound(
            "There is no upload with this id.", hint="It was imported, stopped, or is a day old."
        )
    return upload


def uploads_of(session: ReadSession, account_id: str) -> list[Upload]:
    """Oldest first."""
    query = select(Upload).where(Upload.account_id == account_id).order_by(Upload.id)
    return list(session.scalars(query))


def count_uploads(session: WriteSession, account_id: str) -> tuple[int, int]:
    """How many there are and the bytes that they will have. Until the transaction ends, no other
    one counts for this account, so two at a time cannot both find room for themselves."""
    session.execute(select(Account.id).where(Account.id == account_id).with_for_update())
    count, size = session.execute(
        select(func.count(), func.coalesce(func.sum(Upload.size), 0)).where(
            Upload.account_id == account_id
        )
    ).one()
    return count, int(size)


def take_uploads(session: WriteSession, account_id: str, ids: Sequence[str]) -> list[Upload]:
    """Removes the rows and returns them in the order of `ids`; those that are not this account's
    are missing in the answer. Of two that ask for the same upload, one gets it."""
    found = {upload.id: upload for upload in uploads_of(session, account_id)}
    gone = set(
        session.scalars(
            delete(Upload)
            .where(Upload.account_id == account_id, Upload.id.in_([i for i in ids if i in found]))
            .returning(Upload.id)
            .execution_options(synchronize_session=False)
        )
    )
    return [found[upload_id] for upload_id in dict.fromkeys(ids) if upload_id in gone]


def uploads_before(session: ReadSession, moment: datetime) -> list[Upload]:
    """Of every account, those that began before `moment`."""
    return list(session.scalars(select(Upload).where(Upload.created_at < moment)))
