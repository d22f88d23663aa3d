"""Folders: made, described, changed and deleted by the person whose they are."""

from collections.abc import Sequence

from backread.domain import Principal
from backread.errors import Conflict, InvalidInput, LimitExceeded
from backread.indexing import enqueue_embedding
from backread.jobs.scrubbing import scrub_later
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Folder
from backread.store.repositories import folders, record_chunks
from backread.store.repositories.folders import FolderCount
from recall.folders.access import get_folder, hold_folder
from recall.folders.deriving import RECORDS_COLLECTION, derive_folder_later
from recall.folders.texts import check_storable

MAX_NAME = 200
MAX_DESCRIPTION = 1000
MOST_FOLDERS = 500


def list_folders(session: ReadSession, principal: Principal) -> Sequence[FolderCount]:
    """All folders of the account with the number of their records, by name."""
    return folders.folders_of(session, principal.account_id)


def create_folder(
    session: WriteSession,
    principal: Principal,
    name: str,
    *,
    generate_embeddings: bool = True,
    vector_description: str = "",
) -> Folder:
    """A new, empty folder. Raises InvalidInput, LimitExceeded, and Conflict when the account has
    one with this name."""
    name = _checked_name(session, principal, name)
    if folders.count_folders(session, principal.account_id) >= MOST_FOLDERS:
        raise LimitExceeded(f"You have {MOST_FOLDERS} folders.", hint="Delete some first.")
    folder = Folder(
        account_id=principal.account_id,
        name=name,
        generate_embeddings=generate_embeddings,
        vector_description=_checked_description(vector_description),
    )
    session.add(folder)
    session.flush()
    return folder


def change_folder(
    session: WriteSession,
    principal: Principal,
    folder_id: str,
    *,
    name: str | None = None,
    generate_embeddings: bool | None = None,
    vector_description: str | None = None,
) -> Folder:
    """Changes what is given. With another description, or embeddings turned on, the records are
    indexed again in the background; turned off, they leave the index. Raises NotFound and as
    `create_folder`."""
    folder = get_folder(session, principal.account_id, folder_id)
    if name is not None and name != folder.name:
        folder.name = _checked_name(session, principal, name)
    was = folder.generate_embeddings, folder.vector_description
    if generate_embeddings is not None:
        folder.generate_embeddings = generate_embeddings
    if vector_description is not None:
        folder.vector_description = _checked_description(vector_description)
    folder.updated_at = utcnow()
    if was != (folder.generate_embeddings, folder.vector_description):
        derive_folder_later(session, folder)
    return folder


def delete_folder(kernel: Kernel, principal: Principal, folder_id: str, *, name: str) -> int:
    """Deletes the folder with its keys, records and their history, for good; returns how many
    records it held. `name` must be the folder's, so that none is deleted by mistake. Raises
    NotFound, InvalidInput."""
    with kernel.store.write() as session:
        hold_folder(session, principal.account_id, folder_id, alone=True)
        folder = get_folder(session, principal.account_id, folder_id)
        if name.strip() != folder.name:
            raise InvalidInput(
                "The name does not match, so nothing was deleted.",
                hint="Type the name of the folder that you want to delete.",
            )
        counted = folders.folders_of(session, principal.account_id)
        records = next(each.records for each in counted if each.folder.id == folder_id)
        record_chunks.remove_chunks_of_folder(session, principal.account_id, folder_id)
        folders.delete_folder(session, principal.account_id, folder_id)
        enqueue_embedding(session, principal.account_id, RECORDS_COLLECTION)
        scrub_later(session)
    return records


def _checked_name(session: ReadSession, principal: Principal, name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME:
        raise InvalidInput(f"A folder needs a name of at most {MAX_NAME} characters.")
    check_storable("the name", name)
    if folders.find_folder_named(session, principal.account_id, name) is not None:
        raise Conflict("There is a folder with this name.", hint="Choose another name.")
    return name


def _checked_description(description: str) -> str:
    description = description.strip()
    if len(description) > MAX_DESCRIPTION:
        raise InvalidInput(f"A folder's description has at most {MAX_DESCRIPTION} characters.")
    check_storable("the description", description)
    return description
