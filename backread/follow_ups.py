"""What other packages do once conversations were added or changed, or an archive brought memories.

Importing adds them and must not know who works on them; whoever does registers here
when its jobs are loaded.
"""

from collections.abc import Callable

from backread.kernel import Kernel
from backread.store.engine import WriteSession

# Called in the transaction that ends an import, with the account; for enqueueing jobs only.
CONVERSATIONS_CHANGED: list[Callable[[Kernel, WriteSession, str], None]] = []


def conversations_changed(kernel: Kernel, session: WriteSession, account_id: str) -> None:
    """Tells everybody who registered."""
    for follow_up in CONVERSATIONS_CHANGED:
        follow_up(kernel, session, account_id)
