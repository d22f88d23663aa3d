"""All notes with their history as a git repository."""

from dataclasses import dataclass
from pathlib import Path

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import Account, NoteRevision
from backread.store.repositories.notes import client_names, count_notes, revisions_page
from recall.notes.files.repository import NotesRepository


@dataclass(frozen=True, slots=True)
class ExportedNotes:
    notes: int
    commits: int


def export_notes(kernel: Kernel, principal: Principal, target: Path) -> ExportedNotes:
    """Writes a repository with one commit a revision, in the order in which they were made. Notes
    that were taken away for good are not in it. Raises Conflict when `target` is not empty."""
    repository = NotesRepository(target)
    seq = notes = 0
    while True:
        with kernel.store.read() as session:
            page = revisions_page(session, principal.account_id, seq)
            names = client_names(session, [each.client_id for each, _ in page])
            account = session.get(Account, principal.account_id)
            notes = count_notes(session, principal.account_id)
        if not page:
            break
        assert account is not None  # whoever asks has one
        for revision, path in page:
            repository.add(revision, path, *_who(account, names, revision))
        seq = page[-1][0].seq
    repository.finish()
    return ExportedNotes(notes, repository.commits)


def _who(account: Account, names: dict[str, str], revision: NoteRevision) -> tuple[str, str]:
    """Name and address for git's author."""
    if revision.author:
        return revision.author, "elsewhere@backread.invalid"
    if revision.client_id:
        name = names.get(revision.client_id) or revision.client_id
        return name, f"{revision.client_id}@client.backread.invalid"
    return account.display_name or account.email.partition("@")[0], account.email
