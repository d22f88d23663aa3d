"""Whose records a call may touch: one folder, for one caller."""

from dataclasses import dataclass

from backread.domain import Principal
from backread.errors import AccessDenied, NotFound
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Folder
from backread.store.repositories import folders


@dataclass(frozen=True, slots=True)
class FolderAccess:
    """One folder of one account. Every call on records takes one, and reaches nothing beyond it.

    `writer` is noted with each revision: the name of the key; "" for the folder's owner.
    """

    account_id: str
    folder_id: str
    writer: str = ""
    key_id: str = ""
    is_read_only: bool = False

    def check_writable(self) -> None:
        """Raises AccessDenied for a key that may only read."""
        if self.is_read_only:
            raise AccessDenied(
                "This access key may only read.",
                hint="Use a key that may write; the folder's owner can make one.",
            )


def owner_access(session: ReadSession, principal: Principal, folder_id: str) -> FolderAccess:
    """The owner's own way in. Raises NotFound for an unknown folder and another account's."""
    get_folder(session, principal.account_id, folder_id)
    return FolderAccess(principal.account_id, folder_id)


def get_folder(session: ReadSession, account_id: str, folder_id: str) -> Folder:
    """Raises NotFound for an unknown folder and another account's alike."""
    folder = folders.find_folder(session, account_id, folder_id)
    if folder is None:
        raise NotFound("There is no such folder.", hint="The list of folders has those there are.")
    return folder


def hold_folder(
    session: WriteSession, account_id: str, folder_id: str, *, alone: bool = False
) -> None:
    """Keeps the folder from being deleted until the transaction ends; with `alone` from being
    written in, too. Whoever writes records takes this before any record, so that no two wait for
    each other. Raises NotFound as `get_folder`."""
    if not folders.lock_folder(session, account_id, folder_id, alone=alone):
        get_folder(session, account_id, folder_id)
