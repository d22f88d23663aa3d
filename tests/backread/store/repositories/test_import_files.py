"""What imports remember of the files they read."""

from pathlib import Path

from backread.domain import Principal
from backread.store.engine import Store
from backread.store.repositories.imports import file_versions
from ingest.accept import SourceFile, accept_files


def test_versions_of_watched_files_are_remembered_per_account(
    store: Store, principal: Principal, stranger: Principal
) -> None:
    def accept(who: Principal, version: str, *, dry_run: bool = False) -> str:
        file = SourceFile("a.zip", Path("/downloads/a.zip"), 7, version)
        with store.write() as session:
            return accept_files(session, who, [file], route="cli", dry_run=dry_run)

    first, second = accept(principal, "1"), accept(principal, "2")
    accept(principal, "")  # named on the command line, not watched
    accept(principal, "3", dry_run=True)
    accept(stranger, "4")
    with store.read() as session:
        found = list(file_versions(session, principal.account_id))
    assert found == [
        ("/downloads/a.zip", "1", "queued", first),
        ("/downloads/a.zip", "2", "queued", second),
    ]
