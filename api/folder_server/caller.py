"""Who calls the folder server: whoever holds a key, and through it one folder."""

from dataclasses import dataclass, field

from backread.domain import Principal, Scope
from recall.folders.access import FolderAccess


@dataclass(frozen=True, slots=True)
class KeyHolder(Principal):
    """A principal that is good for one folder and nothing else."""

    access: FolderAccess = field(default_factory=lambda: FolderAccess("", ""))


def key_holder(access: FolderAccess) -> KeyHolder:
    """A key that may only read sees only the tools that read."""
    scopes = {Scope.MEMORY_READ} if access.is_read_only else {Scope.MEMORY_READ, Scope.MEMORY_WRITE}
    return KeyHolder(
        access.account_id,
        scopes=frozenset(scopes),
        client_id=f"folder-key:{access.key_id}",
        access=access,
    )
